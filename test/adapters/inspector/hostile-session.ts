import { scripted } from '../../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, requireApproval } from '../../../index.ts';
import type { DatabaseAdapter } from '../../../persistence/database.contract.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

/** A session of somebody who writes markup wherever he can. */
export interface HostileSession {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly externalId: string;
  /** A piece of what he wrote. */
  readonly markup: string;
}

const MARKUP = [
  `<img id=planted src=/planted onerror="window.hostile=1">`,
  `</script><script id=planted>window.hostile=1</script>`,
  `"><svg id=planted onload="window.hostile=1">`,
  `' onmouseover='window.hostile=1' x='`,
  `</textarea></title></style><iframe id=planted srcdoc="<script>parent.hostile=1</script>"></iframe>`,
  `javascript:window.hostile=1`,
  `<a id=planted href="javascript:window.hostile=1">x</a>`,
  `<base href="https://elsewhere.example/"><meta http-equiv=refresh content="0;url=https://elsewhere.example/">`,
];
const ALL = MARKUP.join('\n');
const SHORT = MARKUP[0]!;

/** Plays it: markup in every id, message, name, param, output, error, question and reason that takes text; a call waits for a person at its end. */
export async function storeHostileSession(database: DatabaseAdapter): Promise<HostileSession> {
  const show = looseTool('show', () => ({ [SHORT]: MARKUP }));
  const fail = looseTool('fail', () => {
    throw new Error(ALL);
  });
  const ask = looseTool('ask', () => null, {
    policy: () => requireApproval({ question: ALL, approvers: { users: [SHORT] } }),
  });
  const settled = looseTool('settled', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 300 });
  const script = eachRun(
    { text: ALL, toolCalls: [call('show', { [SHORT]: ALL }, { providerCallId: ALL }), call('fail', { all: MARKUP })] },
    { text: ALL, toolCalls: [call(SHORT, { all: ALL }), call('show', ALL, { invalidInput: ALL })] },
    { text: ALL, toolCalls: [call('settled', { all: ALL })], finishReason: SHORT, providerRequestId: SHORT },
    { text: ALL, toolCalls: [call('ask', { [SHORT]: ALL })] },
  );
  const agent = defineAgent({
    name: SHORT.slice(0, 64),
    model: scripted(script, { modelId: SHORT.slice(0, 64) }),
    instructions: ALL,
    tools: [show, fail, ask, settled],
  });
  await using runtime = await createRuntime({
    database,
    agents: [agent],
    limits: { graceMs: 0 },
    onWarning: () => undefined,
  });
  const names = { tenantId: SHORT, userId: SHORT, externalId: MARKUP.slice(0, 3).join('') };
  const session = await runtime.createSession({ agent: agent.name, ...names, metadata: { [SHORT]: MARKUP } });
  const sent = await session.send(ALL, { messageId: SHORT, metadata: { [SHORT]: MARKUP } });
  const { awaiting } = await sent.result();
  const answer = { outcome: 'failed', reason: ALL, by: SHORT } as const;
  const { state } = await (await session.settle(awaiting[0]!.executionId, answer)).result();
  if (state !== 'AWAITING_INPUT') throw new Error(`the hostile session rests in ${state}`);
  await session.send(ALL, { whenBusy: 'enqueue', messageId: `${SHORT}2` });
  return { tenantId: names.tenantId, externalId: names.externalId, sessionId: session.sessionId, markup: SHORT };
}
