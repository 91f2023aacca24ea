import { postgres } from '../../adapters/databases/postgres.ts';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import { verifySession } from '../../persistence/audit/verify-session.ts';
import type { Act } from './chaos-agent.ts';
import type { Acknowledged } from './traffic.ts';
import type { World } from './world.ts';

interface TurnRow {
  session_id: string;
  turn_index: number;
  role: string;
  content: string;
  turn_id: string;
  call_turn_id: string | null;
  call_ordinal: number | null;
  parts: { type: string; ordinal?: number }[];
}

/** What does not hold, a line each; empty where all does. Knows messages, turns, tokens and acts, and no machine. */
export async function check(world: World, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const turns: TurnRow[] = await world.query(
    'SELECT session_id, turn_index, role, content, turn_id, call_turn_id, call_ordinal, parts FROM turnlock.agent_turns ORDER BY session_id, turn_index',
  );
  const bySession = Map.groupBy(turns, ({ session_id }) => session_id);
  return [
    ...checkMessages(bySession, acknowledged),
    ...[...bySession].flatMap(([sessionId, rows]) => checkHistory(sessionId, rows)),
    ...(await checkAudit(world)),
    ...(await verifyAll(world)),
    ...checkActs(
      world.acts(),
      await world.query('SELECT idempotency_key, tool_name FROM turnlock.agent_tool_executions'),
    ),
    ...(await checkRest(world)),
  ];
}

/** Each acknowledged message once; those that were sent one after the other and wait politely, in that order; nothing twice. */
function checkMessages(bySession: Map<string, TurnRow[]>, acknowledged: readonly Acknowledged[]): string[] {
  const wrong: string[] = [];
  for (const [sessionId, rows] of bySession) {
    const said = rows.filter(({ role }) => role === 'user').map(({ content }) => content);
    for (const text of new Set(said.filter((text, place) => said.indexOf(text) !== place)))
      wrong.push(`${sessionId}: twice: ${text}`);
  }
  for (const [sessionId, sent] of Map.groupBy(acknowledged, (message) => message.sessionId)) {
    const said = (bySession.get(sessionId) ?? []).filter(({ role }) => role === 'user').map(({ content }) => content);
    for (const { text } of sent) if (!said.includes(text)) wrong.push(`${sessionId}: acknowledged and lost: ${text}`);
    const polite = sent.filter(({ whenBusy }) => whenBusy === 'enqueue').map(({ text }) => said.indexOf(text));
    if (polite.some((place, n) => n > 0 && place < (polite[n - 1] as number)))
      wrong.push(`${sessionId}: messages changed places`);
  }
  return wrong;
}

/** Turns without gap or double; every call answered, in order, before anything else is said. */
function checkHistory(sessionId: string, rows: readonly TurnRow[]): string[] {
  const wrong: string[] = [];
  let owed: string[] = [];
  for (const [place, row] of rows.entries()) {
    if (row.turn_index !== place) wrong.push(`${sessionId}: turn ${row.turn_index} at place ${place}`);
    if (row.role === 'tool') {
      const answer = `${row.call_turn_id}/${row.call_ordinal}`;
      if (owed.shift() !== answer) wrong.push(`${sessionId}: turn ${place} answers ${answer} out of turn`);
      continue;
    }
    if (owed.length > 0) wrong.push(`${sessionId}: turn ${place} stands before the answers to ${owed.join(', ')}`);
    owed = row.parts.filter(({ type }) => type === 'toolCall').map(({ ordinal }) => `${row.turn_id}/${ordinal}`);
  }
  if (owed.length > 0) wrong.push(`${sessionId}: calls without an answer at the end: ${owed.join(', ')}`);
  return wrong;
}

/** Sequences without gap up to the version, a chain of hashes, tokens that only rise. */
async function checkAudit(world: World): Promise<string[]> {
  const rows = await world.query(
    `SELECT session_id, sequence, version, token, previous_hash,
            lag(hash, 1, genesis_hash) OVER w AS hash_before, lag(token, 1, 0) OVER w AS token_before, row_number() OVER w AS place,
            count(*) OVER (PARTITION BY session_id) AS count
       FROM turnlock.agent_transitions JOIN turnlock.agent_sessions USING (session_id)
     WINDOW w AS (PARTITION BY session_id ORDER BY sequence)`,
  );
  return rows.flatMap((row) => {
    const where = `${row.session_id}: transition ${row.sequence}`;
    return [
      ...(Number(row.place) === row.sequence && Number(row.count) === row.version
        ? []
        : [`${where} of ${row.version} at place ${row.place}`]),
      ...(row.previous_hash === row.hash_before ? [] : [`${where} does not chain`]),
      ...(row.token >= row.token_before ? [] : [`${where} has token ${row.token} after ${row.token_before}`]),
    ];
  });
}

/** What was committed under all that is what it was vouched for, and a fold of the events leads to every state and the last snapshot. */
async function verifyAll({ server, sessionIds }: World): Promise<string[]> {
  const [environment, limits] = [systemEnvironment, resolveLimits()];
  const database = await postgres(server.url).connect({ environment, limits });
  const wrong: string[] = [];
  try {
    for (const sessionId of sessionIds) {
      const key = { tenantId: 'chaos', sessionId };
      const { findings, skipped } = await verifySession({ database, environment, limits }, key);
      for (const finding of findings) wrong.push(`${sessionId}: ${JSON.stringify(finding)}`);
      if (skipped > 0) wrong.push(`${sessionId}: ${skipped} transitions that were not folded`);
    }
  } finally {
    await database.close();
  }
  return wrong;
}

function checkActs(acts: readonly Act[], executions: { idempotency_key: string; tool_name: string }[]): string[] {
  const known = new Map(executions.map(({ idempotency_key: key, tool_name: tool }) => [key, tool]));
  const byKey = Map.groupBy(acts, ({ key }) => key);
  return [...byKey].flatMap(([key, done]) => [
    ...(known.get(key) === done[0]?.tool ? [] : [`an act that no execution asked for: ${key}`]),
    ...(done[0]?.tool === 'charge' && done.length > 1
      ? [`charge acted ${done.length} times under one key: ${JSON.stringify(done)}`]
      : []),
  ]);
}

/** Everything rests, nothing waits, nothing is held. */
async function checkRest(world: World): Promise<string[]> {
  const rows = await world.query(
    `SELECT session_id, current_state, lease_holder, (SELECT count(*)::int FROM turnlock.agent_inbox i WHERE i.session_id = s.session_id AND rejected_at IS NULL) AS waiting
       FROM turnlock.agent_sessions s`,
  );
  return rows
    .filter((row) => row.current_state !== 'IDLE' || row.lease_holder !== null || row.waiting > 0)
    .map(
      (row) =>
        `${row.session_id}: does not rest: ${row.current_state}, held by ${row.lease_holder}, ${row.waiting} waiting`,
    );
}
