import { initialStored } from '../../machines/snapshot-codec.ts';
import { inPatientTransaction } from '../patient-transaction.ts';
import { type SessionKey, sessionNotFound } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';
import { type AuditRow, readAuditRows } from './read-audit-rows.ts';

/** What a session began with: what the hash of its begin covers. */
export interface AuditBegin extends SessionKey {
  agentName: string;
  firstAgentVersion: number;
  machineId: string;
  firstMachineVersion: number;
  /** The first snapshot; `null` where this build does not know that version of the machine. */
  firstSnapshot: unknown;
  genesisHash: string;
  version: number;
}

/** Transitions that are in memory at a time. */
const PAGE = 256;

/** @throws SESSION_NOT_FOUND when the tenant has no such session. */
export async function readAuditBegin(store: Store, key: SessionKey): Promise<AuditBegin> {
  const { tenantId, sessionId } = key;
  const [row] = await inPatientTransaction(
    store,
    { tenantId },
    async (em) =>
      (await em.execute(
        `select agent_name as "agentName", first_agent_version as "firstAgentVersion", machine_id as "machineId",
                first_machine_version as "firstMachineVersion", genesis_hash as "genesisHash", version
           from turnlock.agent_sessions where tenant_id = ? and session_id = ?`,
        [tenantId, sessionId],
      )) as Omit<AuditBegin, 'tenantId' | 'sessionId' | 'firstSnapshot'>[],
  );
  if (row === undefined) throw sessionNotFound(key);
  return { tenantId, sessionId, ...row, firstSnapshot: initialStored(row.firstMachineVersion) ?? null };
}

/** The rows of a session's audit up to `upTo`, page by page: each in a transaction of its own. */
export async function* exportAudit(store: Store, key: SessionKey, upTo: number): AsyncGenerator<AuditRow> {
  const { tenantId, sessionId } = key;
  for (let after = 0; after < upTo; ) {
    const page = { tenantId, sessionId, after, upTo, limit: PAGE };
    const rows = await inPatientTransaction(store, { tenantId }, (em) => readAuditRows(em, page));
    const last = rows.at(-1);
    if (last === undefined) return;
    yield* rows;
    after = last.sequence;
  }
}
