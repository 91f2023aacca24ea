import { expect, test } from 'vitest';
import { pglite } from '../../adapters/databases/pglite.ts';
import { postgres } from '../../adapters/databases/postgres.ts';
import { createRuntime, defineAgent, defineTool, isTurnlockError } from '../../index.ts';
import { ODD_TEXTS } from '../support/odd-texts.ts';
import { REFUSED } from '../support/odd-values.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** What a caller without types passes by mistake, where anything else than these was asked for. */
const WRONG = [null, 42, Number.NaN, 1n, true, 'text', '', [], {}, () => ({}), Symbol('s'), new Date(0), new Map()];
const isText = (value: unknown) => typeof value === 'string';
const isPlain = (value: unknown) => Object.prototype.toString.call(value) === '[object Object]';
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whatever is wrong about an argument: no error of the language may come out, and no wrong argument may pass. */
const CODES = /^(OPTIONS_INVALID|VALUE_INVALID|OUTCOME_INVALID|DEFINITION_INVALID|TOOL_NAME_INVALID)$/;

type Door = (value: never) => unknown;

async function refusalOf(door: Door, value: unknown): Promise<unknown> {
  try {
    return ['passed', await door(value as never)];
  } catch (error) {
    return error;
  }
}

/** What enters through the arguments of public functions. */
export const describeArguments: RuntimeSuite = (database) => {
  async function open() {
    const bad = looseTool('bad', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 700 });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('bad')] }, 'done'), [bad]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('go')).result();
    const { version } = await session.status();
    return { agent, runtime, session, version, id: awaiting[0]!.executionId };
  }

  test('an argument of the wrong kind is refused by name, by every function, and nothing is written', async () => {
    const { agent, runtime, session, version, id } = await open();
    const base = { database: database().adapter(), agents: [agent] };
    const asked = { agent: agent.name, tenantId: 'tenant-odd', userId: 'user' };
    const { sessionId } = session;
    const tenantId = 'tenant';
    const succeeded = { outcome: 'succeeded', by: 'ann' } as const;
    const failed = { outcome: 'failed', by: 'ann' } as const;
    const tool = { name: 't', description: '', inputSchema: {} as never, execute: () => 1 };
    const rest = { model: agent.model, instructions: '' };
    const isNone = (value: unknown) => value === null;
    const doors: [name: string, door: Door, isFine: (value: unknown) => boolean][] = [
      ['createRuntime', (value) => createRuntime(value), () => false],
      ['database', (value) => createRuntime({ ...base, database: value }), () => false],
      ['agents', (value) => createRuntime({ ...base, agents: value }), () => false],
      ['an agent', (value) => createRuntime({ ...base, agents: [value] }), () => false],
      ['limits', (value) => createRuntime({ ...base, limits: value }), (value) => isObject(value)],
      ['a limit', (value) => createRuntime({ ...base, limits: { maxDepth: value } }), (value) => value === 42],
      ['migrate', (value) => createRuntime({ ...base, migrate: value }), isNone],
      [
        'onWarning',
        (value) => createRuntime({ ...base, onWarning: value }),
        (value) => isNone(value) || typeof value === 'function',
      ],
      ['environment', (value) => createRuntime({ ...base, environment: value }), (value) => typeof value === 'object'],
      [
        'postgres',
        (value) => createRuntime({ ...base, database: postgres(value) }),
        (value) => typeof value === 'object' && value !== null,
      ],
      [
        'pglite',
        (value) => pglite(value),
        (value) => (isText(value) && value !== '') || (typeof value === 'object' && value !== null),
      ],
      ['a directory', (value) => pglite({ directory: value }), (value) => isText(value) && value !== ''],
      ['createSession', (value) => runtime.createSession(value), () => false],
      ['agent', (value) => runtime.createSession({ ...asked, agent: value }), isText],
      ['tenantId', (value) => runtime.createSession({ ...asked, tenantId: value }), (value) => value === 'text'],
      ['userId', (value) => runtime.createSession({ ...asked, userId: value }), (value) => value === 'text'],
      ['externalId', (value) => runtime.createSession({ ...asked, externalId: value }), (value) => value === 'text'],
      [
        'metadata',
        (value) => runtime.createSession({ ...asked, metadata: value }),
        (value) => isNone(value) || isPlain(value),
      ],
      ['session', (value) => runtime.session(value), () => false],
      [
        'tenantId of a session',
        (value) => runtime.session({ tenantId: value, sessionId }),
        (value) => value === 'text',
      ],
      ['sessionId', (value) => runtime.session({ tenantId, sessionId: value }), () => false],
      [
        'externalId of a session',
        (value) => runtime.session({ tenantId, externalId: value }),
        (value) => value === 'text',
      ],
      ['sessions', (value) => runtime.sessions(value), () => false],
      ['state', (value) => runtime.sessions({ tenantId, state: value }), () => false],
      ['limit', (value) => runtime.sessions({ tenantId, limit: value }), (value) => value === 42],
      ['start', (value) => runtime.start(value), isObject],
      ['concurrency', (value) => runtime.start({ concurrency: value }), (value) => value === 42],
      ['onSession', (value) => runtime.start({ onSession: value }), (value) => typeof value === 'function'],
      ['send', (value) => session.send(value), isText],
      ['options of send', (value) => session.send('x', value), isObject],
      ['messageId', (value) => session.send('x', { messageId: value }), (value) => value === 'text'],
      ['metadata of a message', (value) => session.send('x', { metadata: value }), (value) => isPlain(value)],
      ['settle', (value) => session.settle(value, succeeded), () => false],
      ['a settlement', (value) => session.settle(id, value), () => false],
      ['outcome', (value) => session.settle(id, { ...succeeded, outcome: value }), () => false],
      ['by', (value) => session.settle(id, { ...succeeded, by: value }), (value) => value === 'text'],
      ['reason', (value) => session.settle(id, { ...failed, reason: value }), isText],
      ['options of cancel', (value) => session.cancel(value), isObject],
      ['by of cancel', (value) => session.cancel({ by: value }), (value) => isNone(value) || value === 'text'],
      ['reason of cancel', (value) => session.cancel({ reason: value }), (value) => isNone(value) || isText(value)],
      ['options of retry', (value) => session.retry(value), isObject],
      ['options of complete', (value) => session.complete(value), isObject],
      ['defineAgent', (value) => defineAgent(value), () => false],
      ['name of an agent', (value) => defineAgent({ ...rest, name: value }), (value) => value === 'text'],
      ['model', (value) => defineAgent({ ...rest, name: 'a', model: value }), () => false],
      [
        'instructions',
        (value) => defineAgent({ ...rest, name: 'a', instructions: value }),
        (value) => isText(value) || typeof value === 'function',
      ],
      ['tools', (value) => defineAgent({ ...rest, name: 'a', tools: value }), Array.isArray],
      ['defineTool', (value) => defineTool(value), () => false],
      ['name of a tool', (value) => defineTool({ ...tool, name: value }), () => false],
      ['inputSchema', (value) => defineTool({ ...tool, inputSchema: value }), () => false],
      ['execute', (value) => defineTool({ ...tool, execute: value }), () => false],
    ];
    const broken: string[] = [];
    for (const [name, door, isFine] of doors) {
      for (const value of WRONG.filter((wrong) => !isFine(wrong))) {
        const refusal = await refusalOf(door, value);
        const isTyped = isTurnlockError(refusal) && CODES.test(refusal.code) && /wanted/.test(refusal.message);
        if (!isTyped) broken.push(`${name}, given ${String(value)}: ${String(refusal)}`);
      }
    }
    expect(broken).toEqual([]);
    expect((await session.status()).version).toBe(version);
    expect(await runtime.sessions({ tenantId: 'tenant-odd' })).toEqual([]);
  });

  test('C34 C35 an id is kept to the byte or refused, and never changed', async () => {
    const { agent, runtime } = await open();
    for (const [place, { name, given, stored }] of ODD_TEXTS.entries()) {
      const tenantId = `${place} ${given}`.slice(0, 64);
      const asked = {
        agent: agent.name,
        tenantId,
        userId: `u${given}`.slice(0, 64),
        externalId: `e${given}`.slice(0, 255),
      };
      const isKept = given === stored;
      if (!isKept) {
        for (const id of ['tenantId', 'userId', 'externalId'] as const) {
          const odd = { ...asked, tenantId: 'tenant', userId: 'user', externalId: 'odd', [id]: asked[id] };
          await expect(runtime.createSession(odd), name).rejects.toMatchObject({
            code: 'VALUE_INVALID',
            details: { path: `/${id}` },
          });
        }
        await expect(runtime.session({ tenantId, externalId: 'x' }), name).rejects.toMatchObject({
          code: 'VALUE_INVALID',
        });
        await expect(runtime.sessions({ tenantId }), name).rejects.toMatchObject({ code: 'VALUE_INVALID' });
        continue;
      }
      const made = await runtime.createSession(asked);
      const found = await runtime.session({ tenantId, externalId: asked.externalId });
      expect(found.sessionId, name).toBe(made.sessionId);
      expect(await runtime.sessions({ tenantId }), name).toMatchObject([{ sessionId: made.sessionId, ...asked }]);
    }
  });

  test('C34 C35 a message id is kept to the byte or refused, and a repeat of it is found', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const again = await (await openRuntime(database(), [agent])).session(session);
    // Every third: each is two runs and a conflict.
    for (const { name, given, stored } of ODD_TEXTS.filter((_, place) => place % 3 === 0)) {
      const messageId = given.slice(0, 255);
      if (given !== stored || given === '') {
        await expect(session.send('x', { messageId }), name).rejects.toMatchObject({ code: 'VALUE_INVALID' });
        continue;
      }
      const run = await session.send(given, { messageId });
      await run.result();
      const repeat = await again.send(given, { messageId });
      expect(repeat, name).toMatchObject({ runId: run.runId, repeated: true });
      expect(await repeat.result(), name).toEqual(await run.result());
      await expect(again.send(`${given}!`, { messageId }), name).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    }
  });

  test('C34 C35 C36 what a person settles: output, reason and name, stored or refused like any other value', async () => {
    const { session, version, id } = await open();
    for (const { name, make, fate } of REFUSED.filter((value) => value.name !== 'undefined')) {
      const [{ code, path }] = fate.at as [(typeof fate.at)[number]];
      const settled = session.settle(id, { outcome: 'succeeded', output: make(), by: 'ann' });
      await expect(settled, name).rejects.toMatchObject({
        code,
        details: { path: path === null ? expect.stringMatching('^/output') : `/output${path}` },
      });
    }
    for (const { given } of ODD_TEXTS.filter(({ given, stored }) => given !== stored)) {
      const settled = session.settle(id, { outcome: 'failed', reason: 'x', by: given });
      await expect(settled).rejects.toMatchObject({ code: 'VALUE_INVALID', details: { path: '/by' } });
    }
    expect((await session.status()).version).toBe(version);
  });
};
