import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { ClaimContent, KeyedContent } from '../machines/event-content.ts';
import { type Claimed, type Claiming, inClaimOrder, moveClaims, takeClaims } from './claims.ts';

/** A call that changes its business key. */
export interface RekeyedCall {
  executionId: string;
  toolName: string;
  claimDigest?: string | null;
}

/** With what: `once` is absent where it has no key any more. */
export interface Rekeying {
  once?: KeyedContent | undefined;
  paramsDigest: string;
}

/**
 * The claim of a call with params of a person's: its own one where the business key stays the same, else the new key, and the former one
 * is free.
 *
 * @throws KEY_CONFLICT when another call has the new key.
 */
export async function amendClaim(
  em: EntityManager,
  claiming: Claiming,
  call: RekeyedCall,
  rekeying: Rekeying,
): Promise<ClaimContent | null> {
  const moved = await rekeyClaim(em, claiming, call, rekeying);
  if (moved.taken !== undefined) throw taken(call, moved.taken.execution_id);
  return moved.claim;
}

/**
 * Gives a call the key that it has by now, and frees its former one; or says which claim has that key already. Both rows are locked in the
 * order in which everybody locks them.
 */
export async function rekeyClaim(
  em: EntityManager,
  claiming: Claiming,
  call: RekeyedCall,
  { once, paramsDigest }: Rekeying,
): Promise<{ claim: ClaimContent | null; taken?: Claimed }> {
  const { executionId, toolName, claimDigest = null } = call;
  const wanted = once?.digest ?? null;
  let claim: ClaimContent | null = null;
  let other: Claimed | null = null;
  const digests = new Set([wanted, claimDigest].filter((digest) => digest !== null));
  for (const { keyDigest } of inClaimOrder([...digests].map((digest) => ({ toolName, keyDigest: digest })))) {
    const name = { toolName, keyDigest, executionId };
    if (keyDigest !== wanted) {
      await moveClaims(em, claiming.tenantId, [{ ...name, from: 'held', to: 'free', output: null }], claiming.now);
      continue;
    }
    const [row] = (await takeClaims(em, claiming, [{ ...name, paramsDigest }])) as [Claimed];
    if (row.execution_id === executionId) claim = { digest: keyDigest, generation: row.generation };
    else other = row;
  }
  if (other !== null) return { claim: null, taken: other };
  if (claim !== null && wanted === claimDigest)
    await noteParams(em, claiming, { toolName, keyDigest: claim.digest, paramsDigest });
  return { claim };
}

/** A key that stays is held with other params from then on. */
async function noteParams(
  em: EntityManager,
  { tenantId, now }: Claiming,
  { toolName, keyDigest, paramsDigest }: { toolName: string; keyDigest: string; paramsDigest: string },
): Promise<void> {
  await em.execute(
    `update turnlock.agent_idempotency_claims set params_digest = ?, updated_at = ?::timestamptz
      where tenant_id = ? and tool_name = ? and key_digest = ?`,
    [paramsDigest, now.toISOString(), tenantId, toolName, keyDigest],
  );
}

function taken({ executionId, toolName }: RekeyedCall, other: string | null): TurnlockError {
  return new TurnlockError('KEY_CONFLICT', {
    message: `amended params have the business key of another call: ${toolName}, execution ${executionId} (found ${other ?? 'a call of a session that is gone'}, wanted a free key)`,
    hint: 'The other call holds the key or has succeeded with it. Give other params, or refuse the call.',
    details: { executionId, toolName, other },
  });
}
