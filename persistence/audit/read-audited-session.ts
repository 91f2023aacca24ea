import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionState } from '../../machines/session-state.ts';
import { initialStored } from '../../machines/snapshot-codec.ts';
import type { AuditedSessionRow } from '../audited-rows.ts';
import { type SessionKey, sessionNotFound } from '../read-session.ts';

/** What of a session its audit is compared with, all read in one statement. */
export interface AuditedSession extends AuditedSessionRow {
  state: SessionState;
  /** Whether the contents of the session are erased. */
  isErased: boolean;
  /** The session of which it is a fork; `null` where it is none, or that one is gone. */
  forkOriginSessionId: string | null;
  snapshot: unknown;
  genesisHash: string;
  /** What it should be; `null` where this build does not know what sessions of that version began with. */
  trueGenesisHash: string | null;
  turns: number;
}

/** @throws SESSION_NOT_FOUND when the tenant has no such session. */
export async function readAuditedSession(em: EntityManager, key: SessionKey): Promise<AuditedSession> {
  const { tenantId, sessionId } = key;
  const [found] = (await em.execute(
    `select current_state as state, version, machine_version as "machineVersion", first_machine_version as "firstMachineVersion",
            snapshot, genesis_hash as "genesisHash", user_id as "userId", active_model_id as "activeModelId",
            floor(extract(epoch from created_at) * 1000)::text as created, floor(extract(epoch from updated_at) * 1000)::text as updated,
            agent_version as "agentVersion", external_id as "externalId", lease_token as "leaseToken", recoveries, depth,
            fork_origin_turn_index as "forkOriginTurnIndex", metadata, normalised, first_agent_version as "firstAgentVersion",
            erased_at is not null as "isErased", fork_origin_session_id as "forkOriginSessionId",
            (select count(*)::int from turnlock.agent_turns t where t.session_id = s.session_id) as turns
       from turnlock.agent_sessions s where tenant_id = ? and session_id = ?`,
    [tenantId, sessionId],
  )) as (Omit<AuditedSession, 'trueGenesisHash' | 'createdAt' | 'updatedAt'> & { created: string; updated: string })[];
  if (found === undefined) throw sessionNotFound(key);
  const { created, updated, ...rest } = found;
  const row = { ...rest, createdAt: new Date(Number(created)), updatedAt: new Date(Number(updated)) };
  const initial = initialStored(row.firstMachineVersion);
  if (initial === undefined) return { ...row, trueGenesisHash: null };
  const [genesis] = (await em.execute(
    `select encode(sha256(convert_to(jsonb_build_array(1, session_id, tenant_id, agent_name, first_agent_version, machine_id,
              first_machine_version, ?::text::jsonb)::text, 'UTF8')), 'hex') as hash
       from turnlock.agent_sessions where tenant_id = ? and session_id = ?`,
    [JSON.stringify(initial), tenantId, sessionId],
  )) as [{ hash: string }];
  return { ...row, trueGenesisHash: genesis.hash };
}
