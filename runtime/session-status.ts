import type { Json } from '../machines/event-content.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { awaitedOf } from './awaited.ts';
import { awaitedOfChildren } from './look-at-children.ts';
import type { AwaitedExecution } from './run-event.ts';

/** A session as it stands now. Times are those of the database, cut to milliseconds. */
export interface SessionStatus {
  state: SessionState;
  /** The run that is under way, waits for a person, or ended last; `null` before the first message. */
  runId: string | null;
  /** The sequence of the last transition; 0 for a session that has none. */
  version: number;
  /** What a person is asked, in call order, by this session where it is AWAITING_INPUT, and by children below it. */
  awaiting: AwaitedExecution[];
  /** The call of another session that this one answers; `null` where it is nobody's child. */
  parent: { sessionId: string; executionId: string } | null;
  /** The session whose history it began with, and the last turn of it; `null` where it is no fork. `sessionId` is `null` once that was deleted. */
  forkedFrom: { sessionId: string | null; turnIndex: number } | null;
  userId: string;
  /** Name of the agent. */
  agent: string;
  /** The caller's id; `null` when none was given. */
  externalId: string | null;
  /** As given to `createSession`; empty when none was. */
  metadata: { [name: string]: Json };
  createdAt: Date;
  /** When the last transition was committed. */
  updatedAt: Date;
}

/** The session as it stands now, read from the database. @throws SESSION_NOT_FOUND, SNAPSHOT_INVALID. */
export async function readStatus(store: Store, key: SessionKey): Promise<SessionStatus> {
  const read = await readSession(store, key);
  const { session, executions } = read;
  const { state, version, userId, agentName: agent, externalId, metadata, createdAt, updatedAt } = session;
  const { parent, forkedFrom } = session;
  const { runId } = session.snapshot.context;
  return {
    state,
    runId,
    version,
    awaiting: [...awaitedOf(read), ...(await awaitedOfChildren(store, key, executions))],
    parent,
    forkedFrom,
    userId,
    agent,
    externalId,
    metadata,
    createdAt,
    updatedAt,
  };
}
