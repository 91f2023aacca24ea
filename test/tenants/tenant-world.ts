import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { scripted } from '../../adapters/models/scripted.ts';
import { type Agent, allow, defineAgent, defineTool, type Runtime, requireApproval, ToolError } from '../../index.ts';
import { call } from '../support/runtime-script.ts';

/** Names of two tenants that run into each other, or into what SQL and patterns make of them. */
export const TENANT_PAIRS: readonly (readonly [own: string, other: string])[] = [
  ['user/1', 'user/12'],
  ['%', 'anything'],
  ['_', 'x'],
  [`o'brien" --`, 'o'],
  ['ünïcode 東京 👩‍👩‍👧', 'ünïcode 東京 👩‍👩‍👦'],
  ['x'.repeat(63), 'x'.repeat(64)],
  ['null', 'NULL'],
  ['{a,b}', 'a'],
];

/** Ids that somebody may know of another tenant, or has made up. */
export interface Ids {
  sessionId: string;
  /** Of an open approval, of an unknown outcome, and the session in which it is. */
  executionId: string;
  unknownExecutionId: string;
  approvalId: string;
  runId: string;
  messageId: string;
  externalId: string;
  userId: string;
  idempotencyKey: string;
  digest: string;
  memoryId: string;
  /** A business key that has succeeded. */
  order: string;
}

/** Ids that nobody has. */
export function madeUpIds(): Ids {
  const hex = () => randomBytes(32).toString('hex');
  return {
    sessionId: randomUUID(),
    executionId: randomUUID(),
    unknownExecutionId: randomUUID(),
    approvalId: randomUUID(),
    runId: randomUUID(),
    messageId: `message ${hex()}`,
    externalId: `external ${hex()}`,
    userId: `user ${hex().slice(0, 32)}`,
    idempotencyKey: `v1:${hex()}`,
    digest: hex(),
    memoryId: randomUUID(),
    order: `order ${hex()}`,
  };
}

/** The agent of every tenant: what a message names, it does. It tells on whoever shows it another tenant's text. */
export function tenantAgent(told: string[] = []): Agent {
  const name = `tenants-${randomBytes(4).toString('hex')}`;
  const tool = (toolName: string, execute: (params: { note: string }) => unknown, more: object = {}) =>
    defineTool({
      name: toolName,
      description: toolName,
      inputSchema: z.object({ note: z.string() }),
      effect: 'nonRepeatable',
      policy: () => allow(),
      ...more,
      execute,
    });
  const child = defineAgent({
    name: `${name}-child`,
    instructions: '',
    tools: [],
    model: scripted(({ turns }) => `child heard ${turns.at(-1)?.text}`),
  });
  const tools = [
    tool('ask', () => 'asked', { policy: () => requireApproval({ question: 'May I?' }) }),
    tool('lose', () => Promise.reject(new ToolError('the line broke', { outcome: 'unknown' }))),
    tool('once', ({ note }) => `done once for ${note}`, {
      once: { per: 'tenant', key: ({ note }: { note: string }) => note, shareAcrossUsers: true },
    }),
    child.asTool({ name: 'child' }),
  ];
  const model = scripted(({ turns, tenantId }) => {
    told.push(...turns.map(({ text }) => `${tenantId}\n${text}`));
    const last = turns.at(-1);
    const text = turns.findLast(({ role }) => role === 'user')?.text ?? '';
    const [verb = '', ...words] = text.split(' ');
    if (verb === 'fail') throw new Error(`no model for ${text}`);
    if (last?.role !== 'user') return `done with ${text}`;
    if (verb === 'child') return { toolCalls: [call('child', { message: words.join(' ') })] };
    if (['ask', 'lose', 'once'].includes(verb)) return { toolCalls: [call(verb, { note: words.join(' ') })] };
    return `heard ${text}`;
  });
  return defineAgent({ name, model, instructions: 'Do it.', tools });
}

/**
 * One session of a tenant in each state, with all that may stand beside it; every text of it holds `marker`. Answers with the ids by which
 * another tenant may ask for it.
 */
export async function fillTenant(runtime: Runtime, agent: Agent, tenantId: string, marker: string): Promise<Ids> {
  const userId = `user of ${marker}`;
  const externalId = `external ${marker}`;
  const order = `order ${marker}`;
  const messageId = `message ${marker}`;
  const open = (more: object = {}) =>
    runtime.createSession({ agent: agent.name, tenantId, userId, metadata: { marker }, ...more });
  const session = await open({ externalId });
  const first = await session.send(`hello ${marker}`, { messageId });
  await first.result();
  await (await session.send(`once ${order}`)).result();
  await (await session.send(`child ${marker}`)).result();
  const waiting = await open();
  await (await waiting.send(`ask ${marker}`)).result();
  await waiting.send(`later ${marker}`, { messageId: `${messageId} waits` });
  await (await (await open()).send(`lose ${marker}`)).result();
  await (await (await open()).send(`fail ${marker}`)).result();
  const over = await open();
  await over.send(`hello ${marker}`);
  await over.cancel({ by: marker });
  await over.complete({ by: marker });
  const memory = runtime.memory({ tenantId, userId });
  const given = { kind: 'fact', content: `known of ${marker}`, metadata: { marker } } as const;
  const { memoryId } = await memory.remember({ ...given, sessionId: session.sessionId });
  const asked = await runtime.awaiting({ tenantId, limit: 1000 });
  const approval = asked.find(({ reason }) => reason === 'approval')!;
  const unknown = asked.find(({ reason }) => reason === 'unknown')!;
  return {
    sessionId: session.sessionId,
    executionId: approval.executionId,
    unknownExecutionId: unknown.executionId,
    approvalId: approval.approvalId,
    runId: first.runId,
    messageId,
    externalId,
    userId,
    idempotencyKey: approval.idempotencyKey,
    digest: approval.digest,
    memoryId,
    order,
  };
}
