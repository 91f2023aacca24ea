import type pg from 'pg';
import { nextSnapshot } from '../machines/next-snapshot.ts';
import { recordedEvent, type SessionEvent } from '../machines/session-event.ts';
import { encodeSnapshot, initialSnapshot } from '../machines/snapshot-codec.ts';
import { turnFacts } from '../persistence/audited-facts.ts';
import { saltedDigest } from '../persistence/keys/salted-digest.ts';
import { runEvents } from './run-events.ts';
import { seedSession } from './seed-session.ts';

/** Of so many sessions one has called a tool. */
const WITH_TOOL = 200;

const SALT = 'bench';

/**
 * Makes `count` sessions of a tenant, each with one run that is over. Most have a message and a reply, and are copies of one, made by the
 * server: nothing that the audit vouches for names their session, and the trigger chains each. The others are made one by one.
 */
export async function fillSessions(owner: pg.ClientBase, tenantId: string, count: number): Promise<void> {
  const seeded = Math.floor(count / WITH_TOOL);
  for (let n = 0; n < seeded; n += 1) await seedSession(owner, { tenantId, agentName: 'bench', runs: 1 });
  await owner.query(
    `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot)
      SELECT $1, 'user', 'scripted', 'copied', 1, 'session', 1, $2 FROM generate_series(1, $3)`,
    [tenantId, JSON.stringify(encodeSnapshot(initialSnapshot())), count - seeded],
  );
  const [message, reply] = runOf();
  const begun = nextSnapshot(initialSnapshot(), message);
  const ended = nextSnapshot(begun, reply);
  await owner.query("SET session_replication_role = 'replica'");
  await owner.query(
    `UPDATE turnlock.agent_sessions SET version = 2, lease_token = 1, snapshot = $2 WHERE tenant_id = $1 AND agent_name = 'copied'`,
    [tenantId, JSON.stringify(encodeSnapshot(ended))],
  );
  const turns = [
    { index: 0, role: 'user', text: 'Hello' },
    { index: 1, role: 'assistant', text: 'Done' },
  ] as const;
  for (const { index, role, text } of turns) {
    await owner.query(
      `INSERT INTO turnlock.agent_turns (session_id, tenant_id, turn_index, role, content, parts)
        SELECT session_id, tenant_id, $2, $3, $4, '[]' FROM turnlock.agent_sessions WHERE tenant_id = $1 AND agent_name = 'copied'`,
      [tenantId, index, role, text],
    );
  }
  await owner.query("SET session_replication_role = 'origin'");
  const steps = [
    { sequence: 1, event: message, from: 'IDLE', to: begun.value },
    { sequence: 2, event: reply, from: begun.value, to: ended.value },
  ];
  for (const [place, { sequence, event, from, to }] of steps.entries()) {
    const { index, role, text } = turns[place as 0 | 1];
    const facts = turnFacts({ turnIndex: index, role, content: text, parts: [], executionId: null, callOrdinal: null });
    const payload = {
      event: recordedEvent(event),
      contentDigest: null,
      turns: [index],
      outcomes: [],
      holder: null,
      messageId: null,
    };
    await owner.query(
      `INSERT INTO turnlock.agent_transitions (session_id, sequence, tenant_id, from_state, to_state, event, event_id, cause, token,
          payload_digest, turns_digest, outcomes_digest)
        SELECT session_id, $2, tenant_id, $3, $4, $5::text, $5::text || $2::int, 'worker', 1, $6, $7, $8
          FROM turnlock.agent_sessions WHERE tenant_id = $1 AND agent_name = 'copied'`,
      [
        ...[tenantId, sequence, from, to, event.type],
        ...[saltedDigest(SALT, payload), saltedDigest(SALT, [facts]), saltedDigest(SALT, [])],
      ],
    );
    await owner.query(
      `INSERT INTO turnlock.agent_transition_payloads (session_id, sequence, tenant_id, salt, payload)
        SELECT session_id, $2, tenant_id, $3, $4 FROM turnlock.agent_sessions WHERE tenant_id = $1 AND agent_name = 'copied'`,
      [tenantId, sequence, SALT, JSON.stringify(payload)],
    );
  }
  await owner.query('ANALYZE');
}

/** The first and the last event of a run: a message, and the reply to it. */
function runOf(): [SessionEvent, SessionEvent] {
  const events = runEvents();
  return [events[0] as SessionEvent, events.at(-1) as SessionEvent];
}
