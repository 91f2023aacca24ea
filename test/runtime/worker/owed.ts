import type { Agent, Recovery, Runtime, Session } from '../../../index.ts';
import type { FaultPlan, Passage } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Sessions of `agent` in PLANNING whose lease was given back: a process began them, and closed while their model was asked. */
export async function leaveOwed(database: RuntimeDatabase, agent: Agent, count = 1): Promise<Session[]> {
  const tools = [...agent.tools.values()];
  const silent = {
    ...scriptedAgent(() => new Promise<string>(() => undefined), tools, agent.name),
    version: agent.version,
  };
  const runtime = await openRuntime(database, [silent]);
  const sessions: Session[] = [];
  for (let index = 0; index < count; index += 1) {
    const session = await openSession(runtime, silent);
    await session.send(`go ${index}`);
    sessions.push(session);
  }
  await runtime.close();
  return sessions;
}

/** State, lease and recoveries of sessions as they stand now, in the order of `sessions`. */
export async function rowsOf(database: RuntimeDatabase, sessions: readonly { sessionId: string }[]) {
  const ids = sessions.map(({ sessionId }) => sessionId);
  const rows = await database.query(
    `SELECT session_id, current_state AS state, lease_holder AS holder, recoveries,
        (SELECT count(*)::int FROM turnlock.agent_transitions t
          WHERE t.session_id = s.session_id AND t.event = 'worker.tookOver') AS takeovers
      FROM turnlock.agent_sessions s WHERE session_id = ANY ($1)`,
    [ids],
  );
  return ids.map((id) => {
    const { session_id: _, ...row } = rows.find(({ session_id }) => session_id === id)!;
    return row as { state: string; holder: string | null; recoveries: number; takeovers: number };
  });
}

/** Resolves once all of them are in `state` and nobody holds them. */
export async function allRest(
  database: RuntimeDatabase,
  sessions: readonly { sessionId: string }[],
  state = 'IDLE',
  options: { timeoutMs?: number } = {},
): Promise<void> {
  await waitFor(
    async () => (await rowsOf(database, sessions)).every((row) => row.state === state && row.holder === null),
    { for: `${sessions.length} sessions to rest in ${state}`, ...options },
  );
}

/** Whether a worker looks for work there. */
export const isLook = ({ statement }: Passage) => statement?.includes('turnlock.claim_sessions') === true;

/** Works one session at a time until `owed` is at rest and three more looks found nothing. Answers with what was told of. */
export async function workUntilQuiet(
  database: RuntimeDatabase,
  runtime: Runtime,
  owed: readonly { sessionId: string }[],
  looks: FaultPlan,
): Promise<Recovery[]> {
  const told: Recovery[] = [];
  await runtime.start({ concurrency: 1, onSession: (recovery) => void told.push(recovery) });
  await allRest(database, owed);
  const before = looks.passages.filter(isLook).length;
  await waitFor(() => looks.passages.filter(isLook).length >= before + 3, { for: 'three more looks' });
  await runtime.stop();
  return told;
}

/** A message that another program commits by SQL. */
export async function enqueue(
  database: RuntimeDatabase,
  session: { tenantId: string; sessionId: string },
  content: string,
): Promise<void> {
  const { tenantId, sessionId } = session;
  await database.query('SELECT * FROM turnlock.enqueue($1, $2, $3, $4)', [tenantId, sessionId, content, content]);
}

/** Resolves once the session rests and its last user message is this one. */
export async function answered(session: Session, message: string): Promise<void> {
  await waitFor(
    async () => {
      const [asked, reply] = (await session.history()).slice(-2);
      return asked?.content === message && reply?.role === 'assistant';
    },
    { for: `an answer to ${message}` },
  );
}
