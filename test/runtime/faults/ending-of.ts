import type { Session } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import type { Ending } from './describe-end.ts';

/** How the execution of a session's one call ended, and the keys of what a transactional tool wrote. */
export async function endingOf({ query }: RuntimeDatabase, { sessionId }: Session, cell: string): Promise<Ending> {
  const [row] = await query(
    `SELECT status, (SELECT array_agg(key) FROM shop.acts WHERE cell = $2) AS keys
       FROM turnlock.agent_tool_executions WHERE session_id = $1`,
    [sessionId, cell],
  );
  return { status: row.status as string, rows: (row.keys ?? []) as string[] };
}
