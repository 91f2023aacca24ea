import type { ModelToolCall } from '../adapters/models/model.contract.ts';
import type { CallContent, TurnPart } from '../machines/event-content.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { childSessionId } from '../persistence/keys/child-ids.ts';
import { askPolicy } from './ask-policy.ts';
import { describeCall, type Planning, storableText } from './describe-call.ts';

/** The calls of one answer, ready to be committed, and the parts that say what was asked; metadata of a provider as it came. */
export interface CallPlan {
  calls: PlannedCall[];
  parts: TurnPart[];
}

/**
 * Validates what a model asked for, before anything is written: user code runs here, outside any transaction.
 *
 * A call of a tool that does not exist, with arguments that are not JSON or that fail the schema becomes a settled, failed execution
 * whose tool turn says so. Identical calls are one execution unless the tool is `repeatable`. The first calls start at once, as many
 * as may run side by side; the others wait for a slot.
 */
export async function planCalls(planning: Planning, asked: readonly ModelToolCall[]): Promise<CallPlan> {
  const contents = await Promise.all(asked.map((call, ordinal) => describeCall(planning, call, ordinal)));
  const calls: PlannedCall[] = [];
  const byIdentity = new Map<string, PlannedCall>();
  const parts: TurnPart[] = [];
  for (const [ordinal, content] of contents.entries()) {
    const identity = JSON.stringify([content.toolName, content.paramsDigest, content.repeatable ? ordinal : null]);
    let call = byIdentity.get(identity);
    if (call === undefined) {
      call = beginCall(planning, ordinal, content, calls);
      byIdentity.set(identity, call);
      calls.push(call);
    } else {
      call.ordinals.push(ordinal);
    }
    parts.push(toPart(ordinal, call, asked[ordinal] as ModelToolCall));
  }
  for (const call of calls) await judge(planning, call);
  // No call starts while another call of its turn waits for a person.
  const somebodyIsAsked = calls.some(({ verdict }) => verdict === 'ask');
  if (somebodyIsAsked) for (const call of calls) if (call.verdict === 'start') call.verdict = 'queue';
  return { calls, parts };
}

/** Puts the verdict of the tool's policy into a call that could run. */
async function judge(planning: Planning, call: PlannedCall): Promise<void> {
  const { content, executionId } = call;
  const tool = planning.agent.tools.get(content.toolName);
  if (content.settled !== undefined || tool === undefined) return;
  const judgement = await askPolicy(planning, tool, { executionId, params: content.params, isStart: false });
  if (judgement.may === 'not') {
    Object.assign(call, { verdict: 'settled', outcome: 'failed' });
    content.settled = judgement.refusal;
  }
  if (judgement.may === 'ask') {
    Object.assign(call, { verdict: 'ask', waitsFor: tool.isQuestion ? 'answer' : 'approval' });
    content.asked = judgement.asked;
  }
}

function beginCall(planning: Planning, ordinal: number, content: CallContent, before: PlannedCall[]): PlannedCall {
  const running = before.filter((call) => call.verdict === 'start').length;
  const executionId = planning.environment.uuid();
  const child = content.child === undefined ? {} : { childSessionId: childSessionId(executionId) };
  const call = { executionId, ordinals: [ordinal], ...child, content };
  if (content.settled !== undefined) return { ...call, verdict: 'settled', outcome: 'failed' };
  return { ...call, verdict: running < planning.limits.maxParallelTools ? 'start' : 'queue' };
}

function toPart(ordinal: number, call: PlannedCall, asked: ModelToolCall): TurnPart {
  const { toolName, params, rawInput } = call.content;
  const { providerMetadata } = asked;
  return {
    type: 'toolCall',
    ordinal,
    toolName,
    input: params,
    ...(rawInput === null ? {} : { rawInput }),
    providerCallId: storableText(asked.providerCallId, 'providerCallId')?.value ?? null,
    executionId: call.executionId,
    ...(call.childSessionId === undefined ? {} : { childSessionId: call.childSessionId }),
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  };
}
