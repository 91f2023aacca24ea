import type { EntityManager } from '@mikro-orm/postgresql';
import { SESSION_MACHINE_ID, SESSION_MACHINE_VERSION } from '../machines/session.machine.ts';
import { encodeSnapshot, initialSnapshot } from '../machines/snapshot-codec.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { childRunId, childSessionId } from './keys/child-ids.ts';
import type { RowChanges, StartedChild } from './row-changes.ts';

/**
 * What a commit of a parent writes of its children, without their locks: new ones with their first message in the inbox, and the word that a
 * child's run was given up. Both leave their NOTIFY with the commit. Returns the sessions that were told to stop.
 */
export async function writeChildren(
  em: EntityManager,
  parent: AgentSessionRow,
  { children, givenUp }: RowChanges,
  now: Date,
): Promise<string[]> {
  for (const child of children) await insertChild(em, parent, child, now);
  const told: string[] = [];
  for (const executionId of givenUp)
    if (await giveUp(em, parent, executionId, now)) told.push(childSessionId(executionId));
  return told;
}

/** A child that is there already is left as it is, its message too. */
async function insertChild(
  em: EntityManager,
  parent: AgentSessionRow,
  started: StartedChild,
  now: Date,
): Promise<void> {
  const { executionId, child } = started;
  const { text, parts, metadata, normalised } = child.message;
  await em.execute(
    `with child as (
       insert into turnlock.agent_sessions (session_id, tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id,
           machine_version, snapshot, parent_session_id, parent_execution_id, depth, metadata, normalised, created_at, updated_at)
         select ?::uuid, p.tenant_id, p.user_id, ?, ?, ?::int, ?, ?::int, ?::text::jsonb, p.session_id, ?::uuid, ?::int, p.metadata,
             p.normalised, ?::timestamptz, ?::timestamptz
           from turnlock.agent_sessions p where p.session_id = ?
         on conflict (session_id) do nothing
         returning tenant_id, session_id)
     insert into turnlock.agent_inbox (tenant_id, session_id, message_id, run_id, content, parts, metadata, normalised, created_at)
       select tenant_id, session_id, ?, ?::uuid, ?, ?::text::jsonb, ?::text::jsonb, ?::text::jsonb, ?::timestamptz from child`,
    [
      childSessionId(executionId),
      child.modelId,
      child.agentName,
      child.agentVersion,
      SESSION_MACHINE_ID,
      SESSION_MACHINE_VERSION,
      JSON.stringify(encodeSnapshot(initialSnapshot())),
      executionId,
      child.depth,
      now,
      now,
      parent.sessionId,
      `execution:${executionId}`,
      childRunId(executionId),
      text,
      JSON.stringify(parts),
      JSON.stringify(metadata),
      normalised === null ? null : JSON.stringify(normalised),
      now,
    ],
  );
}

/** `false` where there is nobody to tell: the session was completed, or deleted. */
async function giveUp(em: EntityManager, parent: AgentSessionRow, executionId: string, now: Date): Promise<boolean> {
  const rows = (await em.execute(
    `insert into turnlock.agent_inbox (tenant_id, session_id, run_id, kind, content, created_at)
       select s.tenant_id, s.session_id, ?::uuid, 'cancel', 'The session that asked gave the call up.', ?::timestamptz
         from turnlock.agent_sessions s
        where s.session_id = ? and s.tenant_id = ? and s.current_state <> 'COMPLETED'
     returning session_id`,
    [childRunId(executionId), now, childSessionId(executionId), parent.tenantId],
  )) as unknown[];
  return rows.length > 0;
}
