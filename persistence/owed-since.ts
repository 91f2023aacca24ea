import type { Standing } from './standing.ts';

/** What of a standing says since when work is owed. */
export type Owing = Pick<Standing, 'state' | 'leaseExpiresAt' | 'wakeAt' | 'updatedAt' | 'inbox'>;

/**
 * Since when a session owes work that anybody may take, or when it will: what `claim_sessions` finds, of one session. `null`: it owes
 * nothing that time would bring. A test holds the two against each other.
 */
export function owedSince(standing: Owing): Date | null {
  const { state, leaseExpiresAt, wakeAt, updatedAt, inbox } = standing;
  if (inbox.givenUpSince !== null) return inbox.givenUpSince;
  if (state === 'PLANNING' || state === 'EXECUTING_TOOL') {
    const own = leaseExpiresAt ?? wakeAt ?? updatedAt;
    const sleeps = state === 'EXECUTING_TOOL' && leaseExpiresAt === null && wakeAt !== null;
    return sleeps ? earliest([own, inbox.newsSince]) : own;
  }
  const message = messageOf(standing);
  const woken = state === 'COMPLETED' ? null : latest([wakeAt, wakeAt === null ? null : leaseExpiresAt]);
  return earliest([woken, message === null ? null : latest([message, leaseExpiresAt])]);
}

/** Since when a message waits that the session, at rest, would take. FAILED keeps its inbox until it is retried. */
function messageOf({ state, inbox }: Owing): Date | null {
  if (state === 'IDLE' || state === 'COMPLETED') return inbox.since;
  return state === 'AWAITING_INPUT' ? inbox.newsSince : null;
}

function earliest(times: readonly (Date | null)[]): Date | null {
  return sorted(times)[0] ?? null;
}

function latest(times: readonly (Date | null)[]): Date | null {
  return sorted(times).at(-1) ?? null;
}

function sorted(times: readonly (Date | null)[]): Date[] {
  return times.filter((time) => time !== null).sort((a, b) => a.getTime() - b.getTime());
}
