import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json } from '../machines/event-content.ts';
import type { RecordedEvent } from '../machines/session-event.ts';
import type { RowDigests } from './audited-rows.ts';
import type { Cause, CommittedTransition } from './commit-request.ts';
import { AgentTransition } from './entities/agent-transition.entity.ts';
import { AgentTransitionPayload } from './entities/agent-transition-payload.entity.ts';
import { saltedDigest } from './keys/salted-digest.ts';
import type { SessionKey } from './read-session.ts';

/** What stands beside a transition, and may be erased: format version 2. */
export interface TransitionPayload {
  event: RecordedEvent;
  /** Digest of the caller's content; `null` where there is none. */
  contentDigest: string | null;
  /** Indexes of the turns that the commit wrote. */
  turns: number[];
  /** The executions that it settled. */
  outcomes: string[];
  /** The worker under whose lease it was committed; `null` where it needed none. */
  holder: string | null;
  /** The caller's id of the message that caused it; `null` where there is none. */
  messageId: string | null;
  /** Digests of the rows that it wrote. Absent in format version 1. */
  rows?: RowDigests;
}

/** The row of one transition and its payload, before they are written. */
export interface NewTransition {
  transition: CommittedTransition;
  cause: Cause;
  token: number;
  salt: string;
  payload: TransitionPayload;
  turnsDigest: string;
  outcomesDigest: string;
}

/** Adds both rows to `em`. Time, previous hash and hash are the insert trigger's. */
export function persistTransition(em: EntityManager, { tenantId, sessionId }: SessionKey, made: NewTransition): void {
  const { transition, cause, token, salt, payload, turnsDigest, outcomesDigest } = made;
  const { sequence, runId, from: fromState, to: toState, event, eventId } = transition;
  const owner = { tenantId, sessionId, sequence };
  const payloadDigest = saltedDigest(salt, payload);
  em.persist(
    em.create(AgentTransition, {
      ...owner,
      runId,
      fromState,
      toState,
      event: event.type,
      eventId,
      cause,
      token,
      payloadDigest,
      turnsDigest,
      outcomesDigest,
      formatVersion: payload.rows === undefined ? 1 : 2,
    } as never),
  );
  em.persist(em.create(AgentTransitionPayload, { ...owner, salt, payload: payload as unknown as Json }));
}
