import type { Stage } from '../play/stage.ts';
import { PROMISE_NAMES } from './promise-names.ts';

/** Sessions at work, held by whom they were, in which an interruption waits that came before and that no commit took note of. */
const UNHEARD = `SELECT s.session_id, s.lease_holder FROM turnlock.agent_sessions s
  WHERE s.session_id = ANY($1::uuid[]) AND s.current_state IN ('PLANNING', 'EXECUTING_TOOL') AND EXISTS (
    SELECT FROM turnlock.agent_inbox i WHERE i.session_id = s.session_id AND i.kind = 'message' AND i.when_busy = 'interrupt'
      AND i.noted_at IS NULL AND i.rejected_at IS NULL AND i.created_at <= to_timestamp($2 / 1000.0))`;

/**
 * After a heartbeat in which nothing went wrong: no tool is out that does not know of an interruption which came until `before`, in
 * milliseconds since 1970. What is not so is noted.
 */
export async function checkHeard<World>(stage: Stage<World>, before: number): Promise<void> {
  const calls = [...stage.out].filter(({ process, context }) => {
    return process.isLiving && !process.isClosing && !context.signal.aborted;
  });
  if (calls.length === 0) return;
  const ids = [...new Set(calls.map(({ context }) => context.sessionId))];
  const unheard = await stage.database.query(UNHEARD, [ids, before]);
  for (const { process, context, tool } of calls) {
    const isUnheard = unheard.some(
      (row) => row.session_id === context.sessionId && row.lease_holder === stage.holders.get(process),
    );
    if (isUnheard)
      stage.broken.note(PROMISE_NAMES.heard, `${tool.name} goes on after a heartbeat, and was told nothing`);
  }
}
