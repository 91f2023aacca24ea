import { randomUUID } from 'node:crypto';
import type { CallContent, ModelCallContent, ModelTurnContent } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { paramsDigest } from '../persistence/keys/params-digest.ts';

const PARAMS = { n: 21 };

const CALL: CallContent = {
  toolName: 'double',
  toolVersion: 1,
  effect: 'idempotent',
  repeatable: false,
  params: PARAMS,
  paramsDigest: paramsDigest(PARAMS),
  providerCallId: null,
  rawInput: null,
  timeoutMs: 30_000,
  normalised: null,
};

/** The four events of a run with one tool call, as the runtime makes them. */
export function runEvents(): SessionEvent[] {
  const runId = randomUUID();
  const executionId = randomUUID();
  const toolCall = { type: 'toolCall', ordinal: 0, toolName: 'double', input: PARAMS, providerCallId: null } as const;
  return [
    {
      type: 'user.messaged',
      runId,
      content: { text: 'Double 21.', parts: [{ type: 'text', text: 'Double 21.' }], metadata: {}, normalised: null },
    },
    {
      type: 'model.calledTools',
      runId,
      calls: [{ executionId, ordinals: [0], verdict: 'start', content: CALL }],
      content: { ...answer(''), parts: [{ ...toolCall, executionId }] },
    },
    { type: 'tool.settled', results: [{ executionId, attempt: 1, outcome: 'succeeded', content: { output: 42 } }] },
    { type: 'model.replied', runId, final: false, content: answer('It is 42.') },
  ];
}

function answer(text: string): ModelTurnContent {
  const parts = text === '' ? [] : [{ type: 'text' as const, text }];
  return { text, parts, usage: {}, metadata: {}, normalised: null, modelCall: modelCall() };
}

function modelCall(): ModelCallContent {
  return {
    modelCallId: randomUUID(),
    attempt: 1,
    modelId: 'scripted',
    agentVersion: 1,
    tools: [{ name: 'double', version: 1 }],
    windowFrom: 0,
    windowTo: 0,
    memories: [],
    startedAt: Date.now(),
    latencyMs: 0,
    usage: {},
    finishReason: 'stop',
    providerRequestId: null,
    errorCode: null,
    errorMessage: null,
  };
}
