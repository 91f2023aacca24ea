import { TurnlockError } from '../errors.ts';
import type { Build } from './build.ts';

/** The columns of a session that say who may act for it. */
export interface LeaseColumns {
  leaseHolder: string | null;
  leaseToken: number;
  leaseExpiresAt: Date | null;
  recoveries: number;
}

/**
 * The right under which an event commits. `build` is what the process knows that will drive the session from here: what is newer than it
 * is refused, and its version of the agent is the session's from then on. Absent: nothing is compared.
 *
 * - `acquire`: begins a run; refused while any lease is live. Token + 1.
 * - `hold`: the holder goes on; refused when the token has moved, whatever the clock says.
 * - `takeOver`: another worker continues; refused while the lease is live. Token + 1, and a recovery is counted where it was not released.
 * - `raise`: cancels whoever holds it. Token + 1.
 * - `none`: needs the lock but no lease, and leaves it alone.
 */
export type LeaseClaim =
  | { type: 'acquire'; holder: string; leaseMs: number; build?: Build }
  | { type: 'hold'; holder: string; token: number; leaseMs: number }
  | { type: 'takeOver'; holder: string; leaseMs: number; build?: Build }
  | { type: 'raise' }
  | { type: 'none' };

/** Whether somebody may act for the session at `now`. */
export function isLeaseLive(lease: Pick<LeaseColumns, 'leaseExpiresAt'>, now: Date): boolean {
  return lease.leaseExpiresAt !== null && lease.leaseExpiresAt.getTime() > now.getTime();
}

/**
 * The lease columns after a commit under `claim`. `rests` says that the session owes nothing afterwards: then the lease is released.
 *
 * @throws SESSION_BUSY when `acquire` meets a live lease.
 * @throws LEASE_HELD when `takeOver` meets a live lease.
 * @throws TOKEN_STALE when `hold` names another token or holder than the row.
 */
export function grantLease(lease: LeaseColumns, claim: LeaseClaim, now: Date, rests: boolean): LeaseColumns {
  refuse(lease, claim, now);
  const leaseToken = claim.type === 'hold' || claim.type === 'none' ? lease.leaseToken : lease.leaseToken + 1;
  const recoveries = lease.recoveries + (claim.type === 'takeOver' && lease.leaseHolder !== null ? 1 : 0);
  if (rests || claim.type === 'raise') return { leaseHolder: null, leaseToken, leaseExpiresAt: null, recoveries };
  if (claim.type === 'none') return { ...lease, leaseToken, recoveries };
  return {
    leaseHolder: claim.holder,
    leaseToken,
    leaseExpiresAt: new Date(now.getTime() + claim.leaseMs),
    recoveries,
  };
}

function refuse(lease: LeaseColumns, claim: LeaseClaim, now: Date): void {
  const live = isLeaseLive(lease, now);
  if (claim.type === 'acquire' && live) {
    throw new TurnlockError('SESSION_BUSY', {
      message: `session is busy: a run is under way (found a lease until ${lease.leaseExpiresAt?.toISOString()}, wanted none)`,
    });
  }
  if (claim.type === 'takeOver' && live) {
    throw new TurnlockError('LEASE_HELD', {
      message: `session is held: its worker is alive (found a lease until ${lease.leaseExpiresAt?.toISOString()}, wanted an expired one)`,
    });
  }
  if (claim.type === 'hold' && (claim.token !== lease.leaseToken || claim.holder !== lease.leaseHolder)) {
    throw new TurnlockError('TOKEN_STALE', {
      message: `fencing token is stale: the session has another holder (found token ${claim.token}, wanted ${lease.leaseToken})`,
      details: { found: claim.token, wanted: lease.leaseToken },
    });
  }
}
