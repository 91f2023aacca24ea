import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { nextSnapshot } from '../machines/next-snapshot.ts';
import { recordedEvent } from '../machines/session-event.ts';
import { encodeSnapshot, initialSnapshot } from '../machines/snapshot-codec.ts';
import { outcomeFacts, settledOf, turnFacts } from '../persistence/audited-facts.ts';
import { saltedDigest } from '../persistence/keys/salted-digest.ts';
import { projectRows } from '../persistence/project-rows.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { ExecutionRow, TurnRow } from '../persistence/row-changes.ts';
import { runEvents } from './run-events.ts';

/** A session that is to be made. */
export interface Seeded {
  tenantId: string;
  agentName: string;
  /** Runs with one tool call each: four transitions, four turns and one execution a run. */
  runs: number;
}

/** Rows of one INSERT. */
const BATCH = 1_000;

const NOW = new Date('2026-11-29T12:00:00.000Z');

interface Rows {
  turns: TurnRow[];
  executions: Map<string, ExecutionRow>;
  transitions: Record<string, unknown>[];
  payloads: Record<string, unknown>[];
}

/**
 * Makes a session with a long history in seconds, as its runs would have: the machine takes their events, the projection makes the rows, the
 * database's trigger chains them. `owner` owns the tables: the session's row is set to its end before its transitions are written.
 */
export async function seedSession(owner: pg.ClientBase, { tenantId, agentName, runs }: Seeded): Promise<SessionKey> {
  const key = { tenantId, sessionId: randomUUID() };
  const initial = encodeSnapshot(initialSnapshot());
  await owner.query(
    `INSERT INTO turnlock.agent_sessions (session_id, tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id,
        machine_version, snapshot) VALUES ($1, $2, 'user', 'scripted', $3, 1, 'session', 1, $4)`,
    [key.sessionId, tenantId, agentName, JSON.stringify(initial)],
  );
  const { rows, snapshot } = project(key, runs);
  await owner.query("SET session_replication_role = 'replica'");
  await owner.query(
    'UPDATE turnlock.agent_sessions SET version = $2, lease_token = 1, snapshot = $3 WHERE session_id = $1',
    [key.sessionId, rows.transitions.length, JSON.stringify(encodeSnapshot(snapshot))],
  );
  await insert(
    owner,
    'agent_turns',
    rows.turns.map((turn) => ({ ...key, ...turn })),
  );
  await insert(
    owner,
    'agent_tool_executions',
    [...rows.executions.values()].map((row) => ({ ...key, ...row })),
  );
  await owner.query("SET session_replication_role = 'origin'");
  await insert(owner, 'agent_transitions', rows.transitions);
  await insert(owner, 'agent_transition_payloads', rows.payloads);
  return key;
}

function project(key: SessionKey, runs: number) {
  const rows: Rows = { turns: [], executions: new Map(), transitions: [], payloads: [] };
  let snapshot = initialSnapshot();
  for (const event of Array.from({ length: runs }, runEvents).flat()) {
    const after = nextSnapshot(snapshot, event);
    const open = snapshot.context.calls.map(({ executionId }) => rows.executions.get(executionId) as ExecutionRow);
    const changes = projectRows({
      sessionId: key.sessionId,
      before: snapshot,
      after,
      event,
      executions: open,
      callTurnId: open[0]?.turnId ?? null,
      now: NOW,
      token: 1,
      newId: randomUUID,
    });
    const moved = open.map((row) => ({ ...row, ...changes.updatedExecutions.get(row.executionId) }));
    for (const row of [...moved, ...changes.insertedExecutions]) rows.executions.set(row.executionId, row);
    rows.turns.push(...changes.turns);
    const settled = settledOf(moved.filter(({ executionId }) => changes.updatedExecutions.has(executionId)));
    const salt = randomUUID().replaceAll('-', '');
    const payload = {
      event: recordedEvent(event),
      contentDigest: null,
      turns: changes.turns.map(({ turnIndex }) => turnIndex),
      outcomes: settled.map(({ executionId }) => executionId),
      holder: 'seed',
      messageId: null,
    };
    const sequence = rows.transitions.length + 1;
    rows.payloads.push({ ...key, sequence, salt, payload });
    rows.transitions.push({
      ...key,
      sequence,
      runId: after.context.runId,
      fromState: snapshot.value,
      toState: after.value,
      event: event.type,
      eventId: randomUUID(),
      cause: 'worker',
      token: 1,
      payloadDigest: saltedDigest(salt, payload),
      turnsDigest: saltedDigest(salt, changes.turns.map(turnFacts)),
      outcomesDigest: saltedDigest(salt, settled.map(outcomeFacts)),
    });
    snapshot = after;
  }
  return { rows, snapshot };
}

/** Inserts rows whose names are those of the columns in camel case, a batch a statement. */
async function insert(owner: pg.ClientBase, table: string, rows: readonly object[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  for (let from = 0; from < rows.length; from += BATCH) {
    const batch = rows
      .slice(from, from + BATCH)
      .map((row) => Object.fromEntries(Object.values(row).map((value, place) => [columns[place], value])));
    await owner.query(
      `INSERT INTO turnlock.${table} (${columns.join(', ')})
        SELECT ${columns.map((column) => `r.${column}`).join(', ')} FROM jsonb_populate_recordset(NULL::turnlock.${table}, $1) r`,
      [JSON.stringify(batch)],
    );
  }
}
