import type { Json } from '../machines/event-content.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { SessionSnapshot } from '../machines/snapshot-codec.ts';

/** The call that a child session answers. */
export interface ParentCall {
  sessionId: string;
  executionId: string;
}

/** Where a fork was copied from. */
export interface ForkOrigin {
  /** `null`: that session was deleted. */
  sessionId: string | null;
  /** The last turn that was copied. */
  turnIndex: number;
}

/** A session as it was last committed. */
export interface CommittedSession {
  sessionId: string;
  tenantId: string;
  userId: string;
  externalId: string | null;
  agentName: string;
  agentVersion: number;
  modelId: string;
  /** The call of another session that this one answers; `null` where it is nobody's child. */
  parent: ParentCall | null;
  /** The session whose history it began with; `null` where it is no fork. */
  forkedFrom: ForkOrigin | null;
  /** How many parents are above it. */
  depth: number;
  state: SessionState;
  /** The sequence of the last transition. */
  version: number;
  /** The fencing token of the last grant. */
  token: number;
  leaseHolder: string | null;
  leaseExpiresAt: Date | null;
  recoveries: number;
  /** When the session wants to be looked at again, on the database's clock. */
  wakeAt: Date | null;
  snapshot: SessionSnapshot;
  metadata: { [name: string]: Json };
  createdAt: Date;
  updatedAt: Date;
}
