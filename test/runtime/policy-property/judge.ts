import { expect } from 'vitest';
import type { EffectClass } from '../../../machines/execution-status.ts';
import { expectWholeAudit } from '../../support/audit-of.ts';
import { checkSession } from '../crash-property/facts-of.ts';
import type { Act, Say } from './ledger.ts';
import type { ToolPlot } from './plot.ts';
import { guardOf, nameOf, verdictOf } from './plot-agent.ts';
import type { Stage } from './stage.ts';

/** How a call began, as the audit has it. */
type Planned = 'start' | 'queue' | 'ask' | 'settled';

interface Call {
  execution_id: string;
  session_id: string;
  tool_name: string;
  effect: EffectClass;
  status: string;
  attempt: number;
  settled_by: string | null;
  answered_by: string | null;
  key: string;
  n: number;
  turn_index: number;
  /** Which of the session's messages it belongs to. */
  message: number;
  /** What a transactional tool wrote. */
  booked: string[];
  rounds: { kind: string; decision: string | null; decided_by: string | null; used: boolean }[];
}

/** A call with everything that is known of it outside the database. */
interface Case extends Call {
  tool: ToolPlot;
  planned: Planned;
  acts: Act[];
  says: Say[];
}

const CALLS = `SELECT e.execution_id, e.session_id, e.tool_name, e.effect, e.status, e.attempt, e.settled_by, e.answered_by,
    e.idempotency_key AS key, (e.input_parameters->>'n')::text AS n, t.turn_index,
    (SELECT count(*)::int FROM turnlock.agent_turns u WHERE u.session_id = e.session_id AND u.role = 'user' AND u.turn_index < t.turn_index) AS message,
    ARRAY(SELECT b.order_id FROM shop.refunds b WHERE b.execution_id = e.execution_id) AS booked,
    (SELECT coalesce(json_agg(json_build_object('kind', a.kind, 'decision', a.decision, 'decided_by', a.decided_by,
        'used', a.consumed_at IS NOT NULL) ORDER BY a.round), '[]') FROM turnlock.agent_approvals a WHERE a.execution_id = e.execution_id) AS rounds
  FROM turnlock.agent_tool_executions e JOIN turnlock.agent_turns t USING (turn_id) WHERE e.tenant_id = $1`;

/**
 * What holds of every play. It compares what the outside world saw and what people said with what is recorded: sets and counts, and no
 * machine. Only how a call began is taken from the audit.
 */
export async function judge(stage: Stage, places: readonly number[]): Promise<void> {
  const { ledger, database } = stage;
  const people = await stage.people();
  expect(ledger.invalid).toEqual([]);
  const planned = new Map<string, Planned>();
  for (const place of places) {
    const session = await stage.session(people, place);
    await checkSession(database, session);
    await expectWholeAudit(database, session.sessionId);
    for (const { event } of await session.transitions()) {
      if (event?.type !== 'model.calledTools') continue;
      const calls = event.calls as { executionId: string; verdict: Planned }[];
      for (const { executionId, verdict } of calls) planned.set(executionId, verdict);
    }
  }
  const cases = await readCases(stage, planned);
  const known = new Set(cases.map(({ execution_id }) => execution_id));
  expect(ledger.acts.filter(({ executionId }) => !known.has(executionId))).toEqual([]);
  for (const one of cases) {
    checkActs(one);
    checkVerdicts(one);
    checkDecisions(one);
    checkOutcome(one);
  }
  checkRepeats(cases);
  checkBusinessKeys(cases);
}

async function readCases(stage: Stage, planned: ReadonlyMap<string, Planned>): Promise<Case[]> {
  const { ledger, plot, tenantId } = stage;
  const rows = (await stage.database.query(CALLS, [tenantId])) as Call[];
  return rows.flatMap((row) => {
    const place = plot.tools.findIndex((_, index) => nameOf(index) === row.tool_name);
    const acts = ledger.acts.filter(({ executionId }) => executionId === row.execution_id);
    const says = ledger.says.filter(({ executionId }) => executionId === row.execution_id);
    const tool = plot.tools[place];
    if (tool === undefined) expect([row, acts]).toEqual([row, []]);
    const call = { ...row, n: Number(row.n), planned: planned.get(row.execution_id)! };
    return tool === undefined ? [] : [{ ...call, tool, acts, says }];
  });
}

/** Everybody saw the key, params and attempts that are recorded, and no class acts more often than it may. */
function checkActs(one: Case): void {
  const { acts, execution_id, key, n, attempt, effect, booked } = one;
  for (const act of acts) expect(act).toMatchObject({ executionId: execution_id, key, n });
  for (const order of booked) expect(order).toBe(`${key} ${n}`);
  const count = acts.length;
  const most = effect === 'readOnly' || effect === 'idempotent' ? attempt : 1 + saysOf(one, 'runAgain').length;
  if (count > Math.min(most, attempt)) expect([one, count]).toEqual([one, `at most ${most}, of ${attempt} attempts`]);
  if (booked.length > 1) expect([one, booked]).toEqual([one, 'one booking']);
}

/** Nothing ran that its policy denied, or wanted a person to grant who did not. */
function checkVerdicts(one: Case): void {
  const { acts, booked, planned, tool, n } = one;
  if (acts.length + booked.length === 0) return;
  const waited = planned === 'ask' || planned === 'queue';
  const verdict = verdictOf(tool, n, waited);
  if (planned === 'settled' || verdict === 'deny') expect(one).toBe('denied');
  if (planned === 'start' && verdict !== 'allow') expect(one).toBe('not started by itself');
  const isGranted = saysOf(one, 'grant').some((grant) => grant.n === null || grant.n === n);
  if ((planned === 'ask' || verdict === 'ask') && !isGranted) expect(one).toBe('granted');
}

/** A decision that was taken holds: what was refused or settled does not act from then on, and other params are those that act. */
function checkDecisions(one: Case): void {
  const { acts, booked, says, rounds, n, attempt } = one;
  const ends = says.filter(({ does, isTaken }) => isTaken === true && does !== 'grant' && does !== 'runAgain');
  for (const { moment, does } of ends) {
    const later = acts.filter((act) => act.moment > moment);
    if (later.length > 0) expect([one, does]).toEqual('no act after it');
    if (does === 'deny') expect([...acts, ...booked]).toEqual([]);
  }
  const amended = says.filter((say) => say.does === 'grant' && say.n !== null && say.isTaken === true).at(-1);
  if (amended !== undefined) expect(n).toBe(amended.n);
  // Each round is decided by one person, once, and used by one start.
  const deciders = rounds.map(({ decided_by }) => decided_by);
  for (const { by, does, isTaken } of says) {
    if (does !== 'grant' && does !== 'deny') continue;
    const times = deciders.filter((name) => name === by).length;
    if (isTaken !== null && times !== Number(isTaken)) expect([one, by, times]).toEqual([one, by, Number(isTaken)]);
  }
  const asked = rounds.filter(({ kind }) => kind === 'approval');
  const used = asked.filter((round) => round.used);
  const wanted = attempt > 0 && asked.length > 0 ? 1 : 0;
  if (used.length !== wanted) expect([one, used.length]).toEqual([one, wanted]);
  for (const { decision } of used) expect(decision).toBe('granted');
}

/** What is recorded as done was done, and what is recorded as failed was not, unless a person said so. */
function checkOutcome(one: Case): void {
  const { status, effect, acts, booked, attempt, settled_by, answered_by } = one;
  const done = acts.length + booked.length > 0;
  const isByItself = settled_by === null || settled_by === 'reconcile';
  if (answered_by !== null) expect([attempt, done]).toEqual([0, false]);
  if (status === 'SUCCESS' && isByItself && attempt > 0 && !done) expect(one).toBe('done');
  if (effect === 'transactional') {
    const isBooked = status === 'SUCCESS' && isByItself && attempt > 0;
    if (isBooked !== booked.length > 0) expect(one).toBe('booked and recorded, or neither');
    return;
  }
  if (status === 'FAILED' && isByItself && done && effect !== 'readOnly') expect(one).toBe('not done');
}

/** The same call of one run acts once more only where its tool or a person says so. */
function checkRepeats(cases: readonly Case[]): void {
  for (const one of cases) {
    const guard = guardOf(one.tool);
    if ((guard !== 'ask' && guard !== 'answer') || !didAct(one)) continue;
    const earlier = cases.find((other) => isRepeat(one, other) && didAct(other) && other.status !== 'FAILED');
    if (earlier === undefined) continue;
    const isWanted = saysOf(one, 'grant').some((grant) => guard === 'ask' || grant.n === one.n);
    if (!isWanted) expect([one, earlier]).toBe('repeated by somebody');
  }
}

function isRepeat(one: Case, { session_id, tool_name, n, message, turn_index }: Case): boolean {
  const isSame = one.session_id === session_id && one.tool_name === tool_name && one.n === n && one.message === message;
  return isSame && turn_index < one.turn_index;
}

/** Never two acts with one business key, in whatever session, unless a person said of one that it did not happen. */
function checkBusinessKeys(cases: readonly Case[]): void {
  const holders = new Map<string, Case>();
  for (const one of cases) {
    const guard = guardOf(one.tool);
    if ((guard !== 'oncePerTenant' && guard !== 'oncePerSession') || !didAct(one)) continue;
    if (one.effect === 'readOnly' || saysOf(one, 'failed').length > 0) continue;
    const key = `${one.tool_name} ${one.n} ${guard === 'oncePerSession' ? one.session_id : ''}`;
    const other = holders.get(key);
    if (other !== undefined) expect([one, other]).toBe('one act');
    holders.set(key, one);
  }
}

function didAct({ acts, booked }: Case): boolean {
  return acts.length + booked.length > 0;
}

/** What people said of a call, as far as it may have been taken. */
function saysOf({ says }: Case, does: Say['does']): Say[] {
  return says.filter((say) => say.does === does && say.isTaken !== false);
}
