import { randomUUID } from 'node:crypto';
import type { ModelRequest, ModelResponse } from '../../../adapters/models/model.contract.ts';
import type { ScriptedStep } from '../../../adapters/models/scripted.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, type Session, type Tool } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';

/** The last message of the user that a model is asked about. */
export const asked = ({ turns }: ModelRequest): string => turns.findLast(({ role }) => role === 'user')!.text;

/** What the tools have answered since that message. */
export const told = ({ turns }: ModelRequest): string[] =>
  turns
    .slice(turns.findLastIndex(({ role }) => role === 'user'))
    .flatMap(({ role, text }) => (role === 'tool' ? [text] : []));

/** A model that asks for `calls` once, and then says what came of them. */
export function asking(
  ...calls: { toolName: string; input: unknown }[]
): (request: ModelRequest) => string | ModelResponse {
  return (request) => (told(request).length === 0 ? { toolCalls: calls } : told(request).join(' + '));
}

/** An agent whose name no other test has. */
export function agentOf(name: string, script: ScriptedStep, tools: readonly Tool[] = []): Agent {
  return defineAgent({ name: `${name}-${randomUUID().slice(0, 8)}`, model: scripted(script), instructions: '', tools });
}

/** The child sessions of a session, as their rows stand, oldest first. */
export async function childrenOf(database: RuntimeDatabase, { sessionId }: { sessionId: string }) {
  const rows = await database.query(
    `SELECT session_id AS id, current_state AS state, agent_name AS agent, parent_execution_id AS execution, depth, tenant_id AS tenant,
        user_id AS "user", lease_holder AS holder FROM turnlock.agent_sessions WHERE parent_session_id = $1 ORDER BY created_at, session_id`,
    [sessionId],
  );
  return rows as ChildRow[];
}

interface ChildRow {
  id: string;
  state: string;
  agent: string;
  execution: string;
  depth: number;
  tenant: string;
  user: string;
  holder: string | null;
}

/** State, lease and wake of a session, as its row stands. */
export async function rowOf(database: RuntimeDatabase, { sessionId }: { sessionId: string }) {
  const [row] = await database.query(
    `SELECT current_state AS state, lease_holder AS holder, wake_at > turnlock.turnlock_now() AS "sleeps", recoveries
      FROM turnlock.agent_sessions WHERE session_id = $1`,
    [sessionId],
  );
  return row as { state: string; holder: string | null; sleeps: boolean | null; recoveries: number };
}

/** What each tool turn of a session says. */
export async function answersOf(session: Session): Promise<string[]> {
  return (await session.history()).flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}
