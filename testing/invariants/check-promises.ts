import type { KitDatabase } from '../database/kit-database.contract.ts';
import type { Broken } from '../play/play-plan.ts';
import type { Stage } from '../play/stage.ts';
import { checkMessages } from './check-messages.ts';
import { PROMISE_NAMES } from './promise-names.ts';
import { PROMISES_OF_A_RUN } from './promises-of-a-run.ts';

/** Every fourth run is verified as a whole; what is cheap is looked at each time. Which ones they are follows from the plan. */
const SHARE_VERIFIED = 4;

/** What Turnlock itself promises of a system at rest, by name. Each statement finds what breaks the promise, one row for each. */
const PROMISES: { readonly [inWords: string]: string } = {
  [PROMISE_NAMES.fenced]: `SELECT 'session ' || COALESCE(s.external_id, s.session_id::text) || ': two processes commit with one token' AS what
    FROM turnlock.agent_transitions t JOIN turnlock.agent_transition_payloads p USING (session_id, sequence)
    JOIN turnlock.agent_sessions s USING (session_id)
    GROUP BY s.session_id, s.external_id, t.token HAVING count(DISTINCT p.payload->>'holder') > 1`,
  [PROMISE_NAMES.asked]: `SELECT e.tool_name || ' in session ' || COALESCE(s.external_id, s.session_id::text) || ' had time until its deadline' AS what
    FROM turnlock.agent_transitions t JOIN turnlock.agent_transition_payloads p USING (session_id, sequence)
    JOIN turnlock.agent_sessions s USING (session_id)
    CROSS JOIN LATERAL jsonb_array_elements(p.payload->'event'->'executions') AS u (doubt)
    JOIN turnlock.agent_tool_executions e ON e.execution_id::text = u.doubt->>'executionId' AND e.attempt = (u.doubt->>'attempt')::int
    WHERE t.event = 'tool.outcomeUnknown' AND u.doubt->>'reason' = 'crash' AND t.created_at < e.deadline_at`,
  [PROMISE_NAMES.lease]: `SELECT 'session ' || COALESCE(external_id, session_id::text) AS what FROM turnlock.agent_sessions
    WHERE lease_holder IS NOT NULL AND current_state IN ('IDLE', 'COMPLETED', 'FAILED', 'AWAITING_INPUT')`,
  [PROMISE_NAMES.open]: `SELECT e.tool_name || ' is ' || e.status || ' in session ' || COALESCE(s.external_id, s.session_id::text) AS what
    FROM turnlock.agent_tool_executions e JOIN turnlock.agent_sessions s USING (session_id)
    WHERE e.status IN ('PENDING', 'RUNNING') AND s.current_state IN ('IDLE', 'COMPLETED', 'FAILED')`,
  [PROMISE_NAMES.version]: `SELECT 'session ' || COALESCE(s.external_id, s.session_id::text) AS what FROM turnlock.agent_sessions s
    WHERE s.version <> (SELECT count(*) FROM turnlock.agent_transitions t WHERE t.session_id = s.session_id)`,
  [PROMISE_NAMES.answered]: `SELECT 'call ' || (p.part->>'ordinal') || ' of turn ' || a.turn_index || ' in session ' || COALESCE(s.external_id, s.session_id::text) AS what
    FROM turnlock.agent_turns a JOIN turnlock.agent_sessions s USING (session_id)
    CROSS JOIN LATERAL jsonb_array_elements(a.parts) AS p (part)
    WHERE a.role = 'assistant' AND p.part->>'type' = 'toolCall' AND s.current_state IN ('IDLE', 'COMPLETED', 'FAILED')
      AND 1 <> (SELECT count(*) FROM turnlock.agent_turns r WHERE r.session_id = a.session_id AND r.role = 'tool'
        AND r.call_ordinal = (p.part->>'ordinal')::int AND r.turn_index > a.turn_index
        AND r.turn_index < COALESCE((SELECT min(n.turn_index) FROM turnlock.agent_turns n
          WHERE n.session_id = a.session_id AND n.role = 'assistant' AND n.turn_index > a.turn_index), 2147483647))`,
  [PROMISE_NAMES.message]: `SELECT 'session ' || COALESCE(s.external_id, s.session_id::text) AS what FROM turnlock.agent_inbox i JOIN turnlock.agent_sessions s USING (session_id)
    WHERE s.current_state = 'IDLE' AND i.rejected_at IS NULL`,
};

const ALL = unionOf(PROMISES);
const ALL_OF_A_RUN = unionOf({ ...PROMISES, ...PROMISES_OF_A_RUN });

function unionOf(promises: typeof PROMISES): string {
  return Object.entries(promises)
    .map(([name, statement]) => `SELECT '${name}' AS name, what FROM (${statement}) AS found`)
    .join(' UNION ALL ');
}

/** What is broken of what rows can show. */
export async function readBroken(database: Pick<KitDatabase, 'query'>): Promise<Broken[]> {
  const rows = await database.query(ALL);
  return rows.map(({ name, what }) => ({ invariant: name, message: what }));
}

/** The first promise of Turnlock's own that a run broke; `null`: all hold. */
export async function checkPromises<World>(stage: Stage<World>): Promise<Broken | null> {
  const givenBack = [...stage.holders].flatMap(([process, holder]) => (process.isClosing ? [holder] : []));
  // On a server a message by SQL may be under way while its session ends.
  const late = stage.database.kind === 'pglite' ? [] : stage.sent.filter(({ command }) => command.isBySql);
  const [found] = await stage.database.query(ALL_OF_A_RUN, [givenBack, late.map(({ messageId }) => messageId)]);
  if (found !== undefined) return { invariant: found.name, message: found.what };
  const broken = await checkMessages(stage);
  if (broken !== null) return broken;
  if (stage.plan.ids % SHARE_VERIFIED !== 0) return null;
  return verifyAll(stage);
}

/** The audit of every session is whole: chain, rows, and the fold of its events. */
async function verifyAll<World>(stage: Stage<World>): Promise<Broken | null> {
  const process = await stage.living(1);
  const numbers = new Set(stage.sent.map(({ command }) => command.session));
  for (const number of numbers) {
    const verification = await (await stage.session(process, number)).verify();
    const [finding] = verification.findings;
    if (finding !== undefined) {
      return { invariant: PROMISE_NAMES.audit, message: `session ${number}: ${finding.code}` };
    }
  }
  return null;
}
