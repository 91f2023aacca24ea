import { scripted } from '../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, type StoredTurn } from '../../index.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { ODD_TEXTS } from './odd-texts.ts';
import { REFUSED, STORED_VALUES } from './odd-values.ts';
import { call, eachRun, looseTool } from './runtime-script.ts';

/** A session that holds every odd value: in its ids, messages, metadata, calls, outputs, errors, and in who settled one. */
export interface OddSession {
  readonly tenantId: string;
  readonly userId: string;
  readonly externalId: string;
  readonly sessionId: string;
  /** The call whose outcome a person settled. */
  readonly executionId: string;
  readonly settledBy: string;
  readonly history: StoredTurn[];
}

/** Texts that can be part of an id, end to end. */
const ID = ODD_TEXTS.filter(({ given, stored }) => given === stored && given.length < 30)
  .map(({ given }) => given)
  .join('');

const TEXTS = ODD_TEXTS.map(({ given }) => given);

/** Plays it on an empty or migrated database. */
export async function storeOddSession(database: DatabaseAdapter): Promise<OddSession> {
  const asked = {
    tenantId: [...ID].slice(0, 64).join(''),
    userId: [...ID].slice(20, 84).join(''),
    externalId: [...ID].slice(0, 255).join(''),
  };
  const settledBy = 'ann\u001b[31m \u202e😀';
  await using runtime = await createRuntime({
    database,
    agents: [oddAgent()],
    migrate: 'auto',
    limits: { graceMs: 0, maxMetadataBytes: 1024 * 1024 },
    onWarning: () => undefined,
  });
  const metadata = { all: STORED_VALUES.map((value) => value.make()) };
  const session = await runtime.createSession({ agent: 'odd', ...asked, metadata });
  const { state, awaiting } = await (await session.send(TEXTS.join('\n'), { metadata })).result();
  if (state !== 'AWAITING_INPUT') throw new Error(`the odd session rests in ${state}`);
  const executionId = awaiting[0]!.executionId;
  await (await session.settle(executionId, { outcome: 'succeeded', output: TEXTS, by: settledBy })).result();
  return { ...asked, sessionId: session.sessionId, executionId, settledBy, history: await session.history() };
}

function oddAgent() {
  const outputs = [...STORED_VALUES, ...REFUSED.filter(({ isAwaitable }) => isAwaitable)];
  const echo = looseTool('echo', ({ n }) => outputs[n as number]!.make());
  const fail = looseTool('fail', ({ text }) => {
    throw new Error(text as string);
  });
  const wait = looseTool('wait', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 700 });
  const calls = outputs.map((value, n) => call('echo', { n, value: n < STORED_VALUES.length ? value.make() : null }));
  const script = eachRun(
    ...[0, 50, 100].map((from) => ({ text: TEXTS.join('\n'), toolCalls: calls.slice(from, from + 50) })),
    { toolCalls: TEXTS.map((text) => call('fail', { text }, { providerCallId: text })) },
    { toolCalls: TEXTS.map((text) => call(text, undefined, { invalidInput: text })) },
    { parts: [{ type: 'custom', part: TEXTS }], toolCalls: [call('wait', { texts: TEXTS })] },
  );
  return defineAgent({ name: 'odd', model: scripted(script), instructions: 'x', tools: [echo, fail, wait] });
}
