import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Model } from '../../adapters/models/model.contract.ts';
import { scripted } from '../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool, requireApproval, type Tool, ToolError } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { call, eachRun } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { leaveOwed } from './worker/owed.ts';

type Broken = () => never;

const thrower = (): never => {
  throw new Error('it is broken');
};

/** What a function of the caller's may do in place of what it should. Those that are not asynchronous may do so all the same. */
const WAYS: [string, () => unknown][] = [
  ['throws', thrower],
  ['rejects with what is no text', () => Promise.reject(Object.create(null))],
  [
    'rejects with nothing, once nobody waits for it any more',
    () => new Promise((_, reject) => void setTimeout(reject, 20)),
  ],
  // biome-ignore lint/suspicious/noThenProperty: that is what is tried
  ['gives what throws when it is waited for', () => ({ then: thrower })],
];

const schema = z.looseObject({});
/** A validator whose check is the broken function; its JSON Schema is as it should be. */
const checkedBy = (broken: Broken) =>
  ({ '~standard': { ...schema['~standard'], validate: broken } }) as unknown as typeof schema;

function agentWith(tool: Tool | null, more: Partial<Parameters<typeof defineAgent>[0]> = {}): Agent {
  const model = scripted(eachRun(tool === null ? '{}' : { toolCalls: [call('act')] }, 'done'));
  const tools = tool === null ? [] : [tool];
  const name = `agent-${Math.random().toString(36).slice(2)}`;
  return defineAgent({ name, model, instructions: 'Do it.', tools, ...more } as never) as Agent;
}

const act = (more: object): Agent => agentWith(defineTool({ ...DEFINITION, ...more } as never));
const DEFINITION = {
  name: 'act',
  description: 'Acts.',
  inputSchema: schema,
  effect: 'idempotent',
  execute: () => 'acted',
};
const unknown = (): never => {
  throw new ToolError('no answer', { outcome: 'unknown' });
};

/** Every function that a definition may have: the agent with a broken one, how its run ends, and what its last turn says. */
const FUNCTIONS: Record<string, [make: (broken: Broken) => Agent, state: string, says: RegExp]> = {
  instructions: [(broken) => agentWith(null, { instructions: broken }), 'FAILED', /^go$/],
  'generate of a model': [
    (broken) => agentWith(null, { model: { modelId: 'broken', generate: broken } as Model }),
    'FAILED',
    /^go$/,
  ],
  'the output of an agent': [(broken) => agentWith(null, { output: checkedBy(broken) as never }), 'IDLE', /^\{\}$/],
  inputSchema: [(broken) => act({ inputSchema: checkedBy(broken) }), 'IDLE', /The validation threw/],
  outputSchema: [(broken) => act({ outputSchema: checkedBy(broken) }), 'IDLE', /the validation threw/],
  policy: [(broken) => act({ policy: broken }), 'IDLE', /policy could not be asked/],
  'the key of once': [
    (broken) => act({ effect: 'nonRepeatable', once: { per: 'session', key: broken } }),
    'IDLE',
    /business key/,
  ],
  cost: [(broken) => act({ cost: broken }), 'IDLE', /cost could not be made/],
  execute: [(broken) => act({ execute: broken }), 'IDLE', /call failed/],
  'execute of a transactional tool': [
    (broken) => act({ effect: 'transactional', execute: broken }),
    'IDLE',
    /call failed/,
  ],
  reconcile: [(broken) => act({ effect: 'reconcilable', execute: unknown, reconcile: broken }), 'AWAITING_INPUT', /^$/],
  'the message of asTool': [
    (broken) => agentWith(agentWith(null).asTool({ name: 'act', inputSchema: schema, message: broken })),
    'IDLE',
    /call failed/,
  ],
};

onPostgres((database) => {
  /** What ends a process of a user's; the code of each warning. */
  function watch(): { unhandled: unknown[]; codes: string[]; onWarning(warning: { code: string }): void } {
    const [unhandled, codes]: [unknown[], string[]] = [[], []];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    atTestEnd(() => void process.off('unhandledRejection', note));
    return { unhandled, codes, onWarning: ({ code }) => void codes.push(code) };
  }

  /** Long enough for what rejects late. */
  async function past(): Promise<void> {
    const end = performance.now() + 40;
    await waitFor(() => performance.now() > end, { for: 'late rejections' });
  }

  test('a function of a definition that throws or rejects, at once or later, ends the run as it should and never the process', async () => {
    const { unhandled, onWarning } = watch();
    let broken: () => unknown = thrower;
    const agents = Object.entries(FUNCTIONS).map(([name, [make, state, says]]) => {
      return { name, agent: make((() => broken()) as Broken), state, says };
    });
    const limits = { maxModelAttempts: 1, maxReconcileAttempts: 1 };
    const all = agents.map(({ agent }) => agent);
    const runtime = await openRuntime(database(), all, { limits, onWarning });
    for (const [way, doIt] of WAYS) {
      broken = doIt;
      const ends = agents.map(async ({ name, agent, state, says }) => {
        const session = await openSession(runtime, agent);
        const result = await (await session.send('go')).result();
        const said = (await session.history()).map(({ content }) => content).filter((content) => says.test(content));
        expect([name, way, result.state, said.length]).toEqual([name, way, state, 1]);
      });
      await Promise.all(ends);
    }
    await past();
    await runtime.close();
    expect(unhandled).toEqual([]);
  });

  test('onSession that throws or rejects, at once or later, ends neither the worker nor the process, and somebody is warned', async () => {
    const { unhandled, codes, onWarning } = watch();
    const agent = agentWith(null);
    const owed = await leaveOwed(database(), agent, WAYS.length);
    const runtime = await openRuntime(database(), [agent], { onWarning });
    const ways = WAYS.values();
    await runtime.start({ onSession: () => ways.next().value?.[1]() as never });
    const warned = () => codes.filter((code) => code === 'WORKER_CALLBACK_FAILED').length === owed.length;
    await waitFor(warned, { for: 'a warning for each way' });
    await runtime.close();
    expect(unhandled).toEqual([]);
  });

  test('params that a person gives are not validated for ever: neither the person waits nor the runtime’s close', async () => {
    let ends = true;
    const validate = (value: unknown) => (ends ? { value } : new Promise<never>(() => undefined));
    const inputSchema = { '~standard': { ...schema['~standard'], validate } };
    const agent = act({ inputSchema, policy: () => requireApproval(), timeoutMs: 50 });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('go')).result();
    ends = false;
    const approving = session.approve(awaiting[0]!.executionId, { by: 'ada', params: { other: 1 } });
    await expect(approving).rejects.toMatchObject({ code: 'PARAMS_INVALID' });
    await runtime.close();
  });
});
