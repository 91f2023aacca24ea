import { expect } from 'vitest';
import type { Session } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';

/** The history of a session as it is the same in every session of the same story: without ids and times. */
export async function factsOf(database: RuntimeDatabase, session: Session) {
  const history = await session.history();
  const executions = await database.query(
    `SELECT t.turn_index, e.execution_id, e.ordinal, e.tool_name, e.input_parameters, e.status, e.output_payload, e.error_message
      FROM turnlock.agent_tool_executions e JOIN turnlock.agent_turns t USING (turn_id) WHERE e.session_id = $1
      ORDER BY t.turn_index, e.ordinal`,
    [session.sessionId],
  );
  const placeOf = new Map(executions.map((row) => [row.execution_id, `${row.turn_index}.${row.ordinal}`]));
  return {
    state: (await session.status()).state,
    turns: history.map(({ turnIndex, role, content, parts, callOrdinal, executionId }) => ({
      turnIndex,
      role,
      content,
      callOrdinal,
      execution: executionId === null ? null : placeOf.get(executionId),
      parts: parts.map((part) => ({
        ...(part as object),
        executionId: placeOf.get((part as { executionId: string }).executionId),
      })),
    })),
    executions: executions.map(({ execution_id: _, ...row }) => row),
  };
}

/** What holds of the audit and of the calls of any session at rest, however it came there. */
export async function checkSession(database: RuntimeDatabase, session: Session): Promise<void> {
  const transitions = await session.transitions();
  expect(transitions.map(({ sequence }) => sequence)).toEqual(transitions.map((_, index) => index + 1));
  expect((await session.status()).version).toBe(transitions.length);
  let before = { to: 'IDLE', token: 0 };
  for (const { from, to, token } of transitions) {
    expect(from).toBe(before.to);
    expect(token).toBeGreaterThanOrEqual(before.token);
    before = { to, token };
  }
  const [row] = await database.query(
    `SELECT lease_holder, count(e.*) FILTER (WHERE e.status IN ('PENDING', 'RUNNING'))::int AS open
      FROM turnlock.agent_sessions s LEFT JOIN turnlock.agent_tool_executions e USING (session_id)
      WHERE s.session_id = $1 GROUP BY s.session_id`,
    [session.sessionId],
  );
  expect(row).toEqual({ lease_holder: null, open: 0 });
  checkCalls(await session.history());
  expect(await session.verify()).toMatchObject({ findings: [], folded: transitions.length, skipped: 0, loss: null });
}

/** Every call of an assistant turn has its tool turn, once, in order, before anything else. */
function checkCalls(history: Awaited<ReturnType<Session['history']>>): void {
  let due: number[] = [];
  for (const turn of history) {
    if (turn.role === 'tool') expect(turn.callOrdinal).toBe(due.shift());
    else expect(due).toEqual([]);
    if (turn.role === 'assistant') {
      due = turn.parts.flatMap((part) =>
        (part as { type: string }).type === 'toolCall' ? [(part as { ordinal: number }).ordinal] : [],
      );
    }
  }
  expect(due).toEqual([]);
}
