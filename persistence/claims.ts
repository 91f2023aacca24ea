import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionEvent } from '../machines/session-event.ts';
import type { Claiming } from './claim-keys.ts';
import type { ExecutionRow, ExecutionUpdate } from './row-changes.ts';

/** The row of a business key. */
export interface ClaimName {
  toolName: string;
  keyDigest: string;
}

/** A key that an execution wants. */
export interface WantedClaim extends ClaimName {
  executionId: string;
  paramsDigest: string;
}

/** The row of a key after an execution asked for it. */
export interface Claimed {
  tool_name: string;
  key_digest: string;
  state: 'held' | 'succeeded' | 'free';
  generation: number;
  /** Who holds it, succeeded with it, or had it last; `null`: its session is gone. */
  execution_id: string | null;
  params_digest: string;
  user_id: string;
  output: string | null;
}

/** The order in which everybody locks claims: with one order for all, commits of two sessions do not wait for each other in a circle. */
export function inClaimOrder<Name extends ClaimName>(names: readonly Name[]): Name[] {
  const text = ({ toolName, keyDigest }: ClaimName) => `${toolName} ${keyDigest}`;
  return [...names].sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

/**
 * Takes each key of `wanted` that nobody has or that is free, and locks the row of each; answers with all rows. `wanted` is sorted, and
 * the rows are taken in that order. ON CONFLICT waits for another session's commit that takes the same key, and then sees what it wrote:
 * a read before the insert would not (shown by “two sessions at once” of the claims tests).
 */
export async function takeClaims(
  em: EntityManager,
  { tenantId, userId, now }: Claiming,
  wanted: readonly WantedClaim[],
): Promise<Claimed[]> {
  const row = '(?, ?, ?, ?, ?::uuid, ?, ?, ?::timestamptz, ?::timestamptz)';
  const values = wanted.flatMap(({ toolName, keyDigest, executionId, paramsDigest }) => [
    ...[tenantId, toolName, keyDigest, 'held', executionId, paramsDigest, userId, now.toISOString(), now.toISOString()],
  ]);
  const ifFree = (column: string) =>
    `${column} = case when c.state = 'free' then excluded.${column} else c.${column} end`;
  const taken = ['state', 'execution_id', 'params_digest', 'user_id', 'updated_at'].map(ifFree);
  return (await em.execute(
    `insert into turnlock.agent_idempotency_claims as c
       (tenant_id, tool_name, key_digest, state, execution_id, params_digest, user_id, created_at, updated_at)
     values ${wanted.map(() => row).join(', ')}
     on conflict (tenant_id, tool_name, key_digest) do update set ${taken.join(', ')}
     returning c.tool_name, c.key_digest, c.state, c.generation, c.execution_id, c.params_digest, c.user_id,
               c.output_payload::text as output`,
    values,
  )) as Claimed[];
}

/** How a claim ends with its execution. */
export interface ClaimMove extends ClaimName {
  executionId: string;
  from: 'held' | 'free';
  to: 'succeeded' | 'free';
  output: unknown;
}

/**
 * What the ends of executions do to their claims. What has succeeded keeps its key for good, with its output. What is known not to have
 * happened frees it. TIMED_OUT is neither: the key stays held until somebody knows. Late evidence that an act happened after all takes
 * the key back where nobody else has it.
 */
export function claimMoves(
  event: SessionEvent,
  rows: readonly ExecutionRow[],
  updates: ReadonlyMap<string, ExecutionUpdate>,
): ClaimMove[] {
  return rows.flatMap((before): ClaimMove[] => {
    const { executionId, toolName, claimDigest: keyDigest } = before;
    if (keyDigest === null) return [];
    const { status, outputPayload = null } = updates.get(executionId) ?? {};
    const move = { toolName, keyDigest, executionId };
    if (status === 'SUCCESS') return [{ ...move, from: 'held', to: 'succeeded', output: outputPayload }];
    if (status === 'FAILED') return [{ ...move, from: 'held', to: 'free', output: null }];
    const late = event.type === 'tool.evidenced' && status === undefined && before.status === 'FAILED';
    const found = late ? event.results.find((result) => result.executionId === executionId) : undefined;
    if (found?.outcome !== 'succeeded') return [];
    return [{ ...move, from: 'free', to: 'succeeded', output: found.content.output ?? null }];
  });
}

/** Moves claims on, each in a statement of its own, in the order in which everybody locks them. Without claims none is sent. */
export async function moveClaims(em: EntityManager, tenantId: string, moves: ClaimMove[], now: Date): Promise<void> {
  for (const { toolName, keyDigest, executionId, from, to, output } of inClaimOrder(moves)) {
    await em.execute(
      `update turnlock.agent_idempotency_claims
          set state = ?, output_payload = ?::jsonb, generation = generation + ?, updated_at = ?::timestamptz
        where tenant_id = ? and tool_name = ? and key_digest = ? and execution_id = ? and state = ?`,
      [
        ...[to, to === 'free' ? null : JSON.stringify(output), to === 'free' ? 1 : 0, now.toISOString()],
        ...[tenantId, toolName, keyDigest, executionId, from],
      ],
    );
  }
}
