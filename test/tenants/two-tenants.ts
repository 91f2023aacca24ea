import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import * as turnlock from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import type { RuntimeDatabase, RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime } from '../support/runtime-open.ts';
import { type Hands, HOST_METHODS, MEMORY_PROBES, type Probe, RUNTIME_PROBES, SESSION_PROBES } from './api-probes.ts';
import { outcomeOf } from './outcome-of.ts';
import { rowsOf } from './tenant-rows.ts';
import { fillTenant, type Ids, madeUpIds, tenantAgent } from './tenant-world.ts';

/** Functions of the package that know no database: they make values. `createRuntime` is what everything else is asked of. */
const MAKERS = [
  ...[
    'allow',
    'askUser',
    'cannotTell',
    'createRuntime',
    'defineAgent',
    'defineTool',
    'deny',
    'done',
    'isTurnlockError',
  ],
  ...[
    'inProcessDeltas',
    'notDone',
    'recallTool',
    'rememberTool',
    'requireApproval',
    'strictest',
    'ToolError',
    'TurnlockError',
  ],
  'versioned',
];

/**
 * Two tenants on one runtime: the second one tries every method with what it may know of the first, and is answered as if it had made it up.
 * `titled` says as whom the runtime is connected.
 */
export const describeApiOfTwoTenants =
  (titled: string, pairs: readonly (readonly [string, string])[]): RuntimeSuite =>
  (database) => {
    test.each(pairs)(
      `C66 ${titled}: of %j nothing is known to %j, whatever it asks: what is another’s is answered like what is not`,
      async (a, b) => {
        const suffix = randomBytes(3).toString('hex');
        const named = (name: string) => (name.length < 58 ? name + suffix : suffix + name.slice(suffix.length));
        const [tenantOfA, tenantOfB] = [named(a), named(b)];
        const marker = `secret${randomBytes(8).toString('hex')}`;
        const told: string[] = [];
        const agent = tenantAgent(told);
        const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } });
        const ids = await fillTenant(runtime, agent, tenantOfA, marker);
        await fillTenant(runtime, agent, tenantOfB, 'own');
        const before = await rowsOf(database(), tenantOfA);
        expect(before).toContain(marker);
        const hands = await handsOf(database(), runtime, agent.name, tenantOfB);
        // One after the other: both have a method of one name, and a session's are tried on sessions that are made for it.
        for (const [method, probes] of [MEMORY_PROBES, RUNTIME_PROBES, SESSION_PROBES].flatMap((probed) =>
          Object.entries(probed),
        )) {
          for (const [place, probe] of probes.entries())
            await expectBlind(`${method} ${place}`, probe, hands, ids, marker);
        }
        expect(await rowsOf(database(), tenantOfA)).toBe(before);
        // What the other tenant said itself is not what it was shown.
        const shown = told
          .filter((text) => text.startsWith(`${tenantOfB}\n`))
          .map((text) => text.replaceAll(ids.order, ''));
        expect(shown.filter((text) => text.includes(marker))).toEqual([]);
        expect(await rowsOf(database(), tenantOfB)).not.toContain(ids.sessionId);
      },
    );
  };

/** The probe with ids of another tenant shows what it shows with ids that nobody has, and nothing of the other tenant. */
async function expectBlind(title: string, probe: Probe, hands: Hands, ids: Ids, marker: string): Promise<void> {
  const madeUp = madeUpIds();
  const asNobodys = await outcomeOf(madeUp, () => probe(hands, madeUp));
  const asAnothers = await outcomeOf(ids, () => probe(hands, ids));
  expect(`${title}: ${asAnothers}`).toBe(`${title}: ${asNobodys}`);
  expect(asAnothers, title).not.toContain(marker);
}

async function handsOf(
  database: RuntimeDatabase,
  runtime: turnlock.Runtime,
  agentName: string,
  tenantId: string,
): Promise<Hands> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  atTestEnd(() => client.end());
  return {
    runtime,
    agentName,
    tenantId,
    async inTransaction(work) {
      await client.query('BEGIN');
      try {
        return await work(client);
      } finally {
        await client.query('ROLLBACK');
      }
    },
  };
}

/** The prototypes of `value`, but for that of all objects. */
function prototypesOf(value: object): object[] {
  const prototype: object = Object.getPrototypeOf(value);
  return prototype === Object.prototype ? [] : [prototype, ...prototypesOf(prototype)];
}

/** A method that is new in the API must say here what another tenant may ask of it. */
export const describeCompleteness: RuntimeSuite = (database) => {
  test('C66 every method of the API is among those that are tried (a new one needs its entry in api-probes.ts)', async () => {
    const agent = tenantAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await runtime.createSession({ agent: agent.name, tenantId: 'complete', userId: 'user' });
    const run = await session.send('hello');
    const methodsOf = (value: object) => Reflect.ownKeys(value).map(String).sort();
    expect(methodsOf(runtime)).toEqual([...Object.keys(RUNTIME_PROBES), ...Object.keys(HOST_METHODS)].sort());
    const ofSession = prototypesOf(session)
      .flatMap(methodsOf)
      .filter((name) => name !== 'constructor');
    expect(ofSession.sort()).toEqual(Object.keys(SESSION_PROBES).sort());
    expect(methodsOf(session)).toEqual(['sessionId', 'tenantId']);
    const memory = runtime.memory({ tenantId: 'complete', userId: 'user' });
    const ofMemory = prototypesOf(memory).flatMap(methodsOf);
    expect(ofMemory.sort()).toEqual(['constructor', ...Object.keys(MEMORY_PROBES)].sort());
    // A run is what a method of a session gives: the probes look at its result and at its events.
    expect(methodsOf(run)).toEqual(['Symbol(Symbol.asyncIterator)', 'repeated', 'result', 'runId', 'sessionId']);
    const makers = Object.entries(turnlock).filter(([, value]) => typeof value === 'function');
    expect(makers.map(([name]) => name).sort()).toEqual([...MAKERS].sort());
    await run.result();
  });
};
