import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError, TurnlockError } from '../../errors.ts';
import type { Json, Normalised } from '../../machines/event-content.ts';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import { SESSION_MACHINE_ID, SESSION_MACHINE_VERSION } from '../../machines/session.machine.ts';
import { recordedEvent } from '../../machines/session-event.ts';
import { encodeSnapshot, initialSnapshot } from '../../machines/snapshot-codec.ts';
import { readCopiedFacts } from '../audit/copied-facts.ts';
import { rowDigests } from '../audited-rows.ts';
import type { CommittedSession } from '../committed-session.ts';
import { findByExternalId } from '../create-session.ts';
import { AgentSession } from '../entities/agent-session.entity.ts';
import { inPatientTransaction } from '../patient-transaction.ts';
import { persistTransition } from '../persist-transition.ts';
import { readDatabaseNow } from '../read-database-now.ts';
import { findSession, type SessionKey, toCommittedSession } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';
import { copyExecutions, copyTurns } from './copy-prefix.ts';
import { findForkTurn } from './find-fork-turn.ts';

/** What a fork is made of: checked and normalised. */
export interface NewFork {
  origin: SessionKey;
  /** Of the fork. */
  sessionId: string;
  /** The last turn that is copied; `null`: the last one that can be. */
  atTurn: number | null;
  externalId: string | null;
  /** `null`: that of the origin. */
  metadata: { value: { [name: string]: Json }; normalised: Normalised } | null;
  /** Who forks. */
  by: string;
}

/**
 * Copies a prefix of a session into a new one, in one commit with a fixed number of statements, however long it is. It takes no lock of the
 * origin: turns never change, so whatever is committed is a prefix, also while the origin is at work.
 *
 * With an external id that the tenant has used, the fork of then is returned. A COMMIT whose answer is lost is looked up by the fork's id.
 *
 * @throws SESSION_NOT_FOUND, FORK_TURN_INVALID.
 * @throws EXTERNAL_ID_CONFLICT when the external id belongs to another session than this fork.
 */
export async function forkSession(store: Store, fork: NewFork): Promise<CommittedSession> {
  const { tenantId } = fork.origin;
  for (;;) {
    const existing = await findExisting(store, fork);
    if (existing !== null) return existing;
    try {
      return await inPatientTransaction(store, { tenantId, lockedSessionId: fork.sessionId }, async (em, attempt) => {
        const written = attempt > 1 ? await em.findOne(AgentSession, { sessionId: fork.sessionId, tenantId }) : null;
        return written === null ? write(store, em, fork) : toCommittedSession(written);
      });
    } catch (error) {
      // Somebody was first: its session is looked at anew, and may have been removed meanwhile.
      if (!isTurnlockError(error, 'EXTERNAL_ID_CONFLICT')) throw error;
    }
  }
}

async function write(store: Store, em: EntityManager, fork: NewFork): Promise<CommittedSession> {
  const { origin, sessionId, by } = fork;
  const key = { tenantId: origin.tenantId, sessionId };
  const cut = await findForkTurn(em, origin, fork.atTurn);
  const now = await readDatabaseNow(em);
  await insertSession(em, fork, cut, now);
  await copyTurns(em, { origin, sessionId, cut });
  await copyExecutions(em, { origin, sessionId, cut });
  const salt = store.environment.uuid().replaceAll('-', '');
  const { turnsDigest, outcomesDigest, executionIds, rows: copied } = await readCopiedFacts(em, key, cut, salt);
  const row = await findSession(em, key);
  const before = toCommittedSession(row).snapshot;
  const event = { type: 'session.forked', originSessionId: origin.sessionId, originTurnIndex: cut, by } as const;
  const after = nextSnapshot(before, event);
  Object.assign(row, { snapshot: encodeSnapshot(after), version: 1, updatedAt: now });
  const recorded = recordedEvent(event);
  const eventId = store.environment.uuid();
  persistTransition(em, key, {
    transition: { sequence: 1, from: before.value, to: after.value, event: recorded, eventId, runId: null },
    cause: 'operator',
    token: row.leaseToken,
    salt,
    payload: {
      event: recorded,
      contentDigest: null,
      turns: Array.from({ length: cut + 1 }, (_, index) => index),
      outcomes: executionIds,
      holder: null,
      messageId: null,
      rows: {
        ...rowDigests(salt, { session: row, turns: [], now, modelCall: null, executions: [], rounds: [] }),
        copied,
      },
    },
    turnsDigest,
    outcomesDigest,
  });
  await em.flush();
  return toCommittedSession(row);
}

/** A session of the same tenant, user, agent and model, nobody's child, with what a new session begins with. */
async function insertSession(em: EntityManager, fork: NewFork, cut: number, now: Date): Promise<void> {
  const { origin, sessionId, externalId, metadata } = fork;
  const given = metadata === null ? null : JSON.stringify(metadata.value);
  const notes = metadata?.normalised ?? null;
  await em.execute(
    `insert into turnlock.agent_sessions (session_id, tenant_id, user_id, active_model_id, agent_name, agent_version, external_id,
        machine_id, machine_version, snapshot, fork_origin_session_id, fork_origin_turn_index, metadata, normalised, created_at, updated_at)
      select ?::uuid, o.tenant_id, o.user_id, o.active_model_id, o.agent_name, o.agent_version, ?, ?, ?::int, ?::text::jsonb, o.session_id,
             ?::int, coalesce(?::text::jsonb, o.metadata), case when ?::boolean then o.normalised else ?::text::jsonb end,
             ?::timestamptz, ?::timestamptz
        from turnlock.agent_sessions o where o.tenant_id = ? and o.session_id = ?`,
    [
      ...[sessionId, externalId, SESSION_MACHINE_ID, SESSION_MACHINE_VERSION],
      ...[JSON.stringify(encodeSnapshot(initialSnapshot())), cut, given, metadata === null],
      ...[notes === null ? null : JSON.stringify(notes), now, now, origin.tenantId, origin.sessionId],
    ],
  );
}

async function findExisting(store: Store, fork: NewFork): Promise<CommittedSession | null> {
  const { origin, externalId, atTurn } = fork;
  if (externalId === null) return null;
  const found = await findByExternalId(store, { tenantId: origin.tenantId, externalId });
  if (found === null) return null;
  const { forkedFrom } = found;
  const isSame =
    forkedFrom?.sessionId === origin.sessionId && (atTurn ?? forkedFrom.turnIndex) === forkedFrom.turnIndex;
  if (isSame) return found;
  throw new TurnlockError('EXTERNAL_ID_CONFLICT', {
    message: `external id is taken: ${JSON.stringify(externalId)} (found a session that is not this fork)`,
    details: { externalId, sessionId: found.sessionId },
  });
}
