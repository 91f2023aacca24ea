import type { EntityManager } from '@mikro-orm/postgresql';
import type { Found } from './doctor-codes.ts';

/** The place in the order of a tenant's claims up to which they were looked at. */
export interface ClaimPlace {
  toolName: string;
  keyDigest: string;
}

/** One page of a tenant's business keys. */
export interface ClaimPage {
  found: Found[];
  /** Where the next page begins; `null`: there is none. */
  after: ClaimPlace | null;
}

interface Row {
  tool_name: string;
  key_digest: string;
  state: 'held' | 'succeeded' | 'free';
  execution_id: string | null;
  session_id: string | null;
  status: string | null;
  differs: boolean | null;
}

const COLUMNS = `c.tool_name, c.key_digest, c.state, c.execution_id, e.session_id, e.status,
    (e.tool_name <> c.tool_name or e.claim_digest is distinct from c.key_digest) as differs
  from turnlock.agent_idempotency_claims c
  left join turnlock.agent_tool_executions e on e.execution_id = c.execution_id and e.tenant_id = c.tenant_id`;

/** The business keys of a tenant that come after `after`, at most `size`. In the caller's transaction. */
export async function checkClaims(
  em: EntityManager,
  { tenantId, after, size }: { tenantId: string; after: ClaimPlace | null; size: number },
): Promise<ClaimPage> {
  const rows = (await em.execute(
    `select ${COLUMNS} where c.tenant_id = ? and (?::text is null or (c.tool_name, c.key_digest) > (?, ?))
      order by c.tool_name, c.key_digest limit ?`,
    [tenantId, after?.toolName ?? null, after?.toolName ?? '', after?.keyDigest ?? '', size],
  )) as Row[];
  const last = rows.length < size ? undefined : rows.at(-1);
  return {
    found: rows.flatMap((row) => judge(tenantId, row)),
    after: last === undefined ? null : { toolName: last.tool_name, keyDigest: last.key_digest },
  };
}

/** The business keys that executions of one session have. In the caller's transaction. */
export async function checkClaimsOfSession(
  em: EntityManager,
  { tenantId, sessionId }: { tenantId: string; sessionId: string },
): Promise<Found[]> {
  const rows = (await em.execute(`select ${COLUMNS} where c.tenant_id = ? and e.session_id = ?`, [
    tenantId,
    sessionId,
  ])) as Row[];
  return rows.flatMap((row) => judge(tenantId, row));
}

/**
 * What has succeeded keeps its key, also where that came out after the call had failed; what failed frees it; what timed out holds it until
 * somebody knows.
 */
const FITTING: Record<Row['state'], readonly string[]> = {
  held: ['PENDING', 'RUNNING', 'TIMED_OUT'],
  succeeded: ['SUCCESS', 'FAILED'],
  free: ['FAILED'],
};

function judge(tenantId: string, row: Row): Found[] {
  const { tool_name: toolName, key_digest: keyDigest, state, execution_id: executionId, session_id: sessionId } = row;
  const place = `key ${keyDigest} of ${toolName}`;
  const at = {
    tenantId,
    place,
    ...(sessionId === null ? {} : { sessionId }),
    ...(executionId === null ? {} : { executionId }),
  };
  // Its session was removed: a held key stays held, since nobody knew how its call ended, until retention forgets it.
  if (executionId === null) return [];
  if (row.status === null) {
    if (state !== 'held') return [];
    return [{ ...at, code: 'CLAIM_STUCK', found: 'held by an execution that is gone', wanted: 'one that is there' }];
  }
  // A call that was amended goes on under another key.
  if (row.differs && state === 'free') return [];
  if (row.differs) {
    return [{ ...at, code: 'CLAIM_MISMATCH', found: `${state} by ${executionId}`, wanted: 'an execution of that key' }];
  }
  if (FITTING[state].includes(row.status)) return [];
  const found = `${state} by an execution that is ${row.status}`;
  const code = state === 'held' ? 'CLAIM_STUCK' : 'CLAIM_MISMATCH';
  return [{ ...at, code, found, wanted: FITTING[state].join(', ') }];
}
