import type { Invariants, Seen, SeenExecution } from '../subject.ts';
import type { WorldLedger } from './world-ledger.ts';

/** How {@link ledgerInvariants} reads a ledger. */
export interface LedgerReading {
  /** The executions whose acts are in this ledger. Default: all. */
  isOf?: (execution: SeenExecution) => boolean;
  /** The key with which an execution acts. Default: its idempotency key. */
  keyOf?: (execution: SeenExecution) => string;
}

/**
 * What nearly every ledger must hold, for the `invariants` of `checkToolPolicy`: no key acts twice; every execution that succeeded by itself has its
 * act; one that failed, and of which that is known, has none.
 *
 * @example
 * invariants: ledgerInvariants((world) => world.bank, { isOf: ({ toolName }) => toolName === 'refund' })
 */
export function ledgerInvariants<World>(
  ledgerOf: (world: World) => WorldLedger,
  { isOf = () => true, keyOf = ({ idempotencyKey }) => idempotencyKey }: LedgerReading = {},
): Invariants<Seen<World>> {
  const find = ({ world, executions }: Seen<World>, status: SeenExecution['status'], hasAct: boolean) =>
    executions.find(
      (one) =>
        one.status === status &&
        !one.isUnknown &&
        one.answeredBy === null &&
        isOf(one) &&
        ledgerOf(world).actsOf(keyOf(one)).length > 0 === hasAct,
    );
  return {
    'no key acts twice': ({ world }) => {
      const ledger = ledgerOf(world);
      const twice = ledger.acts.find(({ key }) => key !== null && ledger.actsOf(key).length > 1);
      if (twice === undefined) return true;
      const all = ledger.actsOf(`${twice.key}`).map(({ what }) => what);
      return `${all.length} acts with one key: ${all.join(', ')}`;
    },
    'every success has its act': (seen) => {
      const found = find(seen, 'SUCCESS', false);
      return found === undefined || `${found.toolName} succeeded, and the world knows nothing of it`;
    },
    'what failed has no act': (seen) => {
      const found = find(seen, 'FAILED', true);
      return found === undefined || `${found.toolName} failed, and the world has done it`;
    },
  };
}
