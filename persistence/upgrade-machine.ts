import type { Json } from '../machines/event-content.ts';
import { SESSION_MACHINE_VERSION } from '../machines/session.machine.ts';
import { encodeSnapshot, type SessionSnapshot } from '../machines/snapshot-codec.ts';
import type { CommitRequest, CommitResult } from './commit-request.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { isLeaseLive } from './lease.ts';

/** Whether an earlier version of the machine wrote the session, which still takes events. */
export function isOfEarlierMachine({ machineVersion, currentState }: AgentSessionRow): boolean {
  return machineVersion < SESSION_MACHINE_VERSION && currentState !== 'COMPLETED';
}

/**
 * The commit that comes before the one that was asked for: the session's snapshot in the form of the present machine. It is a commit of its
 * own, by its event id once per session and version, whoever comes first. A worker of an older build could not go on from it, so its lease
 * ends here; what it still does is refused by its token, and kept as evidence.
 */
export function upgradeOf(
  request: CommitRequest,
  row: AgentSessionRow,
  snapshot: SessionSnapshot,
  now: Date,
): CommitRequest {
  const { tenantId, sessionId } = request;
  const isHeld = isLeaseLive({ leaseExpiresAt: row.leaseExpiresAt ?? null }, now);
  return {
    tenantId,
    sessionId,
    eventId: `machine.upgraded:${SESSION_MACHINE_VERSION}`,
    cause: 'worker',
    event: {
      type: 'machine.upgraded',
      fromVersion: row.machineVersion,
      toVersion: SESSION_MACHINE_VERSION,
      snapshot: encodeSnapshot(snapshot) as unknown as Json,
    },
    claim: { type: isHeld && request.claim.type !== 'hold' ? 'raise' : 'none' },
  };
}

/** Whether a commit was that one: then what was asked for is still to come. */
export function isUpgrade({ transition }: CommitResult): boolean {
  return transition.event.type === 'machine.upgraded';
}
