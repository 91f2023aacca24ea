import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { beginFold, endFold, foldTransitions } from '../../../machines/fold-transitions.ts';
import type { EarlierMachine } from '../../../machines/machine-versions.ts';
import { decodeSnapshot, readableVersions } from '../../../machines/snapshot-codec.ts';
import { saltedDigest } from '../../../persistence/keys/salted-digest.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { withClient } from '../../support/with-client.ts';

/** What a snapshot of the made-up version held: a form of its own, with the state as `value`. */
interface Old {
  value: string;
  run: string | null;
  turns: number;
}

/** A version before the first one, which was never released: it knew messages and replies, and counted turns under another name. */
const MADE_UP = vi.hoisted((): EarlierMachine & { next: NonNullable<EarlierMachine['next']> } => ({
  version: 0,
  initial: { value: 'IDLE', run: null, turns: 0 },
  upgrade: (stored) => {
    const { value, run, turns } = stored as { value: string; run: string | null; turns: number };
    if (!Number.isInteger(turns)) throw new Error('no turns');
    const context = { runId: run, nextTurnIndex: turns, modelCalls: 0, failedModelAttempts: 0, callTurnIndex: null };
    return { value, context: { ...context, calls: [], failureCode: null } };
  },
  next: (stored, { type, ...event }) => {
    const old = stored as { value: string; run: string | null; turns: number };
    if (type === 'user.messaged') return { value: 'PLANNING', run: event.runId, turns: old.turns + 1 };
    if (type === 'model.replied') return { ...old, value: 'IDLE', turns: old.turns + 1 };
    throw new Error(`not known then: ${type}`);
  },
}));

vi.mock('../../../machines/machine-versions.ts', () => ({ EARLIER_MACHINES: [MADE_UP] }));

const RUN = randomUUID();

/** The life of a session under the made-up version: its rows, and the snapshot in their middle and at their end. */
const LIFE = [
  { from: 'IDLE', to: 'PLANNING', event: { type: 'user.messaged', runId: RUN }, turn: ['user', 'hello'] },
  {
    from: 'PLANNING',
    to: 'IDLE',
    event: { type: 'model.replied', runId: RUN, final: false },
    turn: ['assistant', 'hi'],
  },
] as const;

const oldSnapshot = (transitions: number): Old => ({
  value: transitions === 1 ? 'PLANNING' : 'IDLE',
  run: transitions === 0 ? null : RUN,
  turns: transitions,
});

/** A session that the older build left after some of its transitions; with a lease, one of its workers is alive. */
async function insertOld(
  database: RuntimeDatabase,
  agentName: string,
  transitions: number,
  { isHeld = false, snapshot = oldSnapshot(transitions) as unknown } = {},
): Promise<{ tenantId: string; sessionId: string }> {
  const key = { tenantId: 'tenant', sessionId: randomUUID() };
  await withClient(database.url, async (client) => {
    await client.query(
      `INSERT INTO turnlock.agent_sessions (session_id, tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id,
          machine_version, snapshot) VALUES ($1, $2, 'user', 'model', $3, 1, 'session', 0, $4)`,
      [key.sessionId, key.tenantId, agentName, JSON.stringify(MADE_UP.initial)],
    );
    for (const [place, { from, to, event, turn }] of LIFE.slice(0, transitions).entries()) {
      const sequence = place + 1;
      const payload = { event, contentDigest: null, turns: [place], outcomes: [], holder: 'old', messageId: null };
      const facts = [place, ...turn, [], null, null];
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO turnlock.agent_turns (tenant_id, session_id, turn_index, run_id, role, content) VALUES ($1, $2, $3, $4, $5, $6)`,
        [key.tenantId, key.sessionId, place, RUN, ...turn],
      );
      await client.query(
        `INSERT INTO turnlock.agent_transitions (tenant_id, session_id, sequence, run_id, from_state, to_state, event, event_id, cause,
            token, payload_digest, turns_digest, outcomes_digest)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'worker', 1, $9, $10, $11)`,
        [
          ...[key.tenantId, key.sessionId, sequence, RUN, from, to, event.type, randomUUID()],
          ...[saltedDigest('salt', payload), saltedDigest('salt', [facts]), saltedDigest('salt', [])],
        ],
      );
      await client.query(`INSERT INTO turnlock.agent_transition_payloads VALUES ($1, $2, $3, 'salt', $4)`, [
        ...[key.sessionId, sequence, key.tenantId, JSON.stringify(payload)],
      ]);
      await client.query(
        `UPDATE turnlock.agent_sessions SET current_state = $2, version = $3, lease_token = 1, snapshot = $4, lease_holder = $5,
            lease_expires_at = $6 WHERE session_id = $1`,
        [
          ...[key.sessionId, to, sequence, JSON.stringify(sequence === transitions ? snapshot : oldSnapshot(sequence))],
          ...(isHeld ? ['old', new Date(Date.now() + 3_600_000)] : [null, null]),
        ],
      );
      await client.query('COMMIT');
    }
  });
  return key;
}

onPostgres((database) => {
  const agent = scriptedAgent('done');
  const typesOf = async (session: { transitions(): Promise<{ type: string }[]> }) =>
    (await session.transitions()).map(({ type }) => type);

  test('C64 a session of an older machine is read, upgraded by a row of its own before its next event, and goes on', async () => {
    const key = await insertOld(database(), agent.name, 2);
    const session = await (await openRuntime(database(), [agent])).session(key);
    expect(await session.status()).toMatchObject({ state: 'IDLE', version: 2, runId: RUN });
    expect(await (await session.send('more')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(await typesOf(session)).toEqual([
      'user.messaged',
      'model.replied',
      'machine.upgraded',
      'user.messaged',
      'model.replied',
    ]);
    const [, , upgraded] = await session.transitions();
    expect(upgraded).toMatchObject({
      cause: 'worker',
      from: 'IDLE',
      to: 'IDLE',
      eventId: 'machine.upgraded:1',
      event: { fromVersion: 0, toVersion: 1, snapshot: { value: 'IDLE', context: { nextTurnIndex: 2, runId: RUN } } },
    });
    expect(await session.verify()).toMatchObject({ findings: [], folded: 5, skipped: 0, loss: null });
    expect(
      await database().query(
        'SELECT machine_version, first_machine_version FROM turnlock.agent_sessions WHERE session_id = $1',
        [key.sessionId],
      ),
    ).toEqual([{ machine_version: 1, first_machine_version: 0 }]);
  });

  test('a replay goes on from the upgraded snapshot where the older machine is not in the build any more', async () => {
    const key = await insertOld(database(), agent.name, 2);
    const session = await (await openRuntime(database(), [agent])).session(key);
    await (await session.send('more')).result();
    const { next } = MADE_UP;
    Object.assign(MADE_UP, { next: undefined });
    try {
      expect(await session.replay()).toMatchObject({ findings: [], folded: 3, skipped: 2, loss: null });
    } finally {
      Object.assign(MADE_UP, { next });
    }
  });

  test('what an older worker left at work is found, upgraded, taken over and brought to rest', async () => {
    const key = await insertOld(database(), agent.name, 1);
    const runtime = await openRuntime(database(), [agent]);
    expect(await runtime.recover()).toContainEqual({ ...key, state: 'IDLE' });
    const session = await runtime.session(key);
    expect(await typesOf(session)).toEqual(['user.messaged', 'machine.upgraded', 'worker.tookOver', 'model.replied']);
    expect(await session.verify()).toMatchObject({ findings: [], skipped: 0 });
  });

  test('an older worker that is alive is left alone by a takeover; a message ends its lease, since it cannot go on', async () => {
    const key = await insertOld(database(), agent.name, 1, { isHeld: true });
    const runtime = await openRuntime(database(), [agent], { drive: false });
    const session = await runtime.session(key);
    expect(await runtime.recover()).toEqual([]);
    expect(await typesOf(session)).toEqual(['user.messaged']);
    await session.send('more');
    expect(await typesOf(session)).toEqual(['user.messaged', 'machine.upgraded', 'message.enqueued']);
    const [row] = await database().query(
      'SELECT lease_holder, lease_token FROM turnlock.agent_sessions WHERE session_id = $1',
      [key.sessionId],
    );
    expect(row).toEqual({ lease_holder: null, lease_token: 2 });
    expect(await runtime.recover()).toContainEqual({ ...key, state: 'IDLE' });
    expect(await session.verify()).toMatchObject({ findings: [], skipped: 0 });
  });

  test('two processes at once upgrade it once', async () => {
    const key = await insertOld(database(), agent.name, 2);
    const runtimes = await Promise.all([1, 2, 3].map(() => openRuntime(database(), [agent])));
    const sessions = await Promise.all(runtimes.map((runtime) => runtime.session(key)));
    const runs = await Promise.all(sessions.map((session, place) => session.send(`message ${place}`)));
    for (const run of runs) await run.result();
    const types = await typesOf(sessions[0]!);
    expect(types.filter((type) => type === 'machine.upgraded')).toHaveLength(1);
    expect(types.filter((type) => type === 'model.replied')).toHaveLength(4);
    expect(await sessions[0]!.verify()).toMatchObject({ findings: [], skipped: 0 });
  });

  test('C64 an older snapshot that is garbage is quarantined, and left as it is', async () => {
    const key = await insertOld(database(), agent.name, 1, { snapshot: { value: 'PLANNING', run: RUN } });
    const runtime = await openRuntime(database(), [agent]);
    await expect(runtime.session(key)).rejects.toMatchObject({
      code: 'SNAPSHOT_INVALID',
      details: { found: 0, wanted: 1 },
    });
    expect(await runtime.recover()).toContainEqual({ ...key, skipped: 'SNAPSHOT_INVALID' });
    const rows = await database().query(
      'SELECT version, machine_version, snapshot FROM turnlock.agent_sessions WHERE session_id = $1',
      [key.sessionId],
    );
    expect(rows).toEqual([{ version: 1, machine_version: 0, snapshot: { value: 'PLANNING', run: RUN } }]);
  });
});

describe('an earlier version', () => {
  test('is one that the build says it reads', () => {
    expect(readableVersions()).toEqual([0, 1]);
  });

  test('its snapshot in another state than the row says is refused', () => {
    const stored = { machineId: 'session', machineVersion: 0, currentState: 'FAILED', snapshot: oldSnapshot(2) };
    expect(() => decodeSnapshot(stored)).toThrow(expect.objectContaining({ code: 'SNAPSHOT_INVALID' }));
  });

  test('folds its events with its own machine, and an upgrade that it does not come to is found', () => {
    const rows = LIFE.map(({ from, to, event }, place) => {
      return { sequence: place + 1, from, to, type: event.type, event: event as never };
    });
    const fold = foldTransitions(beginFold(0), rows);
    expect(endFold(fold, { machineVersion: 0, snapshot: oldSnapshot(2) }).findings).toEqual([]);
    const snapshot = MADE_UP.upgrade({ ...oldSnapshot(2), turns: 7 });
    const event = { type: 'machine.upgraded', fromVersion: 0, toVersion: 1, snapshot } as const;
    const upgraded = { sequence: 3, from: 'IDLE', to: 'IDLE', type: event.type, event } as const;
    expect(foldTransitions(fold, [upgraded]).findings).toEqual([
      { code: 'UPGRADE_DIFFERS', sequence: 3, found: '/context/nextTurnIndex', wanted: 'no change' },
    ]);
  });
});
