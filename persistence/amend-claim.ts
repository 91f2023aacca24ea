import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { AmendedContent, ClaimContent } from '../machines/event-content.ts';
import type { Claiming } from './claim-keys.ts';
import { inClaimOrder, moveClaims, takeClaims } from './claims.ts';

/** The call whose params a person changes. */
export interface AmendedCall {
  executionId: string;
  toolName: string;
  claimDigest?: string | null;
}

/**
 * The claim of a call with params of a person's: its own one where the business key stays the same, else the new key, and the former one
 * is free. Both rows are locked in the order in which everybody locks them.
 *
 * @throws KEY_CONFLICT when another call has the new key.
 */
export async function amendClaim(
  em: EntityManager,
  claiming: Claiming,
  call: AmendedCall,
  { once, paramsDigest }: AmendedContent,
): Promise<ClaimContent | null> {
  const { executionId, toolName, claimDigest = null } = call;
  const wanted = once?.digest ?? null;
  let claim: ClaimContent | null = null;
  const digests = new Set([wanted, claimDigest].filter((digest) => digest !== null));
  for (const { keyDigest } of inClaimOrder([...digests].map((digest) => ({ toolName, keyDigest: digest })))) {
    const name = { toolName, keyDigest, executionId };
    if (keyDigest !== wanted) {
      await moveClaims(em, claiming.tenantId, [{ ...name, from: 'held', to: 'free', output: null }], claiming.now);
      continue;
    }
    const [row] = await takeClaims(em, claiming, [{ ...name, paramsDigest }]);
    if (row === undefined || row.execution_id !== executionId) throw taken(call, row?.execution_id ?? null);
    claim = { digest: keyDigest, generation: row.generation };
  }
  if (claim !== null && wanted === claimDigest)
    await noteParams(em, claiming, { toolName, keyDigest: claim.digest, paramsDigest });
  return claim;
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

function taken({ executionId, toolName }: AmendedCall, other: string | null): TurnlockError {
  return new TurnlockError('KEY_CONFLICT', {
    message: `amended params have the business key of another call: ${toolName}, execution ${executionId} (found ${other ?? 'a call of a session that is gone'}, wanted a free key)`,
    hint: 'The other call holds the key or has succeeded with it. Give other params, or refuse the call.',
    details: { executionId, toolName, other },
  });
}
