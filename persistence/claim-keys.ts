import type { EntityManager } from '@mikro-orm/postgresql';
import type { AnsweredContent, Json } from '../machines/event-content.ts';
import type { ExecutionStatus } from '../machines/execution-status.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { type Claimed, type Claiming, inClaimOrder, takeClaims, type WantedClaim } from './claims.ts';
import type { SessionKey } from './read-session.ts';

/**
 * Claims the business keys of a plan's calls. Who gets a key may begin; who does not is answered at once, truthfully: with the recorded
 * result, or that it was not repeated. Nothing waits for the call that holds the key.
 *
 * Two sessions of a tenant have two locks: that one of them gets the key is the work of the claim's row, which the statement below
 * makes or locks. The rows are taken in one order by everybody, so that commits wait for each other in no circle.
 */
export async function claimKeys(em: EntityManager, claiming: Claiming, calls: PlannedCall[]): Promise<PlannedCall[]> {
  const wanted = wantedOf(calls);
  if (wanted.length === 0) return calls;
  const claims = await takeClaims(em, claiming, wanted);
  const taken = new Map(claims.map((claim) => [claim.execution_id, claim]));
  const isOurs = (claim: Claimed) => wanted.some(({ executionId }) => executionId === claim.execution_id);
  const unknown = await findUnknown(
    em,
    claiming,
    claims.filter((claim) => claim.state === 'held' && !isOurs(claim)),
  );
  return calls.map((call) => {
    const { once, toolName } = call.content;
    if (call.verdict === 'settled' || once === undefined) return call;
    const own = taken.get(call.executionId);
    if (own !== undefined) return withClaim(call, own);
    const claim = claims.find((one) => one.tool_name === toolName && one.key_digest === once.digest);
    return claim === undefined ? call : answeredBy(call, claim, { claiming, isUnknown: unknown.has(claim) });
  });
}

/** The first call of the plan that names a key may have it; sorted. */
function wantedOf(calls: PlannedCall[]): WantedClaim[] {
  const wanted = new Map<string, WantedClaim>();
  for (const { verdict, executionId, content } of calls) {
    const { toolName, paramsDigest, once } = content;
    if (verdict === 'settled' || once === undefined) continue;
    const name = `${toolName} ${once.digest}`;
    if (!wanted.has(name)) wanted.set(name, { toolName, keyDigest: once.digest, executionId, paramsDigest });
  }
  return inClaimOrder([...wanted.values()]);
}

function withClaim(call: PlannedCall, { key_digest, generation }: Claimed): PlannedCall {
  return { ...call, content: { ...call.content, claim: { digest: key_digest, generation } } };
}

/** Which of the claims are held by calls of which nobody knows how they ended. Read after the rows were locked. */
export async function findUnknown(em: EntityManager, { tenantId }: SessionKey, held: Claimed[]): Promise<Set<Claimed>> {
  const ids = held.flatMap(({ execution_id }) => execution_id ?? []);
  if (ids.length === 0) return new Set(held);
  const rows = (await em.execute(
    `select execution_id, status, unknown_at is not null as is_unknown from turnlock.agent_tool_executions
      where tenant_id = ? and execution_id in (${ids.map(() => '?').join(', ')})`,
    [tenantId, ...ids],
  )) as { execution_id: string; status: ExecutionStatus; is_unknown: boolean }[];
  const open = rows.filter(({ status, is_unknown }) => status !== 'TIMED_OUT' && !is_unknown);
  return new Set(held.filter(({ execution_id }) => !open.some((row) => row.execution_id === execution_id)));
}

interface Answering {
  claiming: Claiming;
  isUnknown: boolean;
}

function answeredBy(call: PlannedCall, claim: Claimed, { claiming, isUnknown }: Answering): PlannedCall {
  if (claim.state === 'held') return notRun(call, heldElsewhere(isUnknown));
  if (claim.user_id !== claiming.userId && call.content.once?.shareAcrossUsers !== true) {
    return notRun(call, DONE_FOR_ANOTHER_USER);
  }
  const settled = { output: JSON.parse(claim.output ?? 'null') as Json };
  const as = claim.params_digest === call.content.paramsDigest ? 'key' : 'otherParams';
  const answered: AnsweredContent = { executionId: claim.execution_id, as };
  return { ...call, verdict: 'settled', outcome: 'succeeded', content: { ...call.content, settled, answered } };
}

/** Why a call does not run, for the model. */
export interface NotRun {
  code: string;
  message: string;
}

/** Another call holds the key; `isUnknown`: nobody knows how that one ended. */
export function heldElsewhere(isUnknown: boolean): NotRun {
  const how = isUnknown
    ? 'The outcome of an earlier call with the same business key is unknown: it may have taken effect.'
    : 'Another call with the same business key is in progress elsewhere.';
  return { code: 'CLAIM_HELD', message: `${how} It was not repeated.` };
}

/** What was done for one user is another one's business only where the tool says so. */
export const DONE_FOR_ANOTHER_USER: NotRun = {
  code: 'CLAIM_OF_ANOTHER_USER',
  message:
    'A call with the same business key has succeeded before, for another user. It was not repeated, and its result is not shown.',
};

function notRun(call: PlannedCall, error: NotRun): PlannedCall {
  return { ...call, verdict: 'settled', outcome: 'failed', content: { ...call.content, settled: { error } } };
}
