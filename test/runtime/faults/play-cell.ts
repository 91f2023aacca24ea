import { setImmediate as tick } from 'node:timers/promises';
import type { Run, Runtime, Session } from '../../../index.ts';
import { lockKey } from '../../../persistence/keys/lock-key.ts';
import type { FaultKind } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { LONG_MS } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';
import { checkSession } from '../crash-property/facts-of.ts';
import { outputOf } from './agents.ts';
import { describeEnd } from './describe-end.ts';
import { endingOf } from './ending-of.ts';
import { loseTime } from './lose-time.ts';
import type { Outside } from './outside.ts';
import type { Effect, Place } from './places.ts';
import { OVERTIME_MS, SimulatedProcess, type SimulatedProcesses } from './simulated-process.ts';

/** One cell of the page's tables. */
export interface Cell {
  effect: Effect;
  place: Place;
  fault: FaultKind;
}

/** On what cells are played, side by side. */
export interface Board {
  database: RuntimeDatabase;
  processes: SimulatedProcesses;
  /** The runtime within which every simulated process lives. */
  mortal: Runtime;
  /** Another one, which goes on with what they left. */
  healing: Runtime;
  /** A new outside world for the cell of this name. */
  open(name: string): Outside;
}

/** Heartbeats of a simulated process go by its own clock, which is moved. In milliseconds. */
export const HEARTBEAT_MS = 10_000;

/** Plays a cell to its end and says how it ended, in the words of the page. */
export async function playCell(board: Board, { effect, place, fault }: Cell): Promise<string> {
  const name = `${effect}, ${place}, ${fault}`;
  const process = new SimulatedProcess(place, fault);
  const outside = board.open(name);
  const created = await board.mortal.createSession({ agent: effect, tenantId: 'tenant', userId: 'user' });
  const { sessionId } = created;
  const session = await board.healing.session({ tenantId: 'tenant', sessionId });
  const run = await board.processes.within(process, () => created.send(name));
  const drive = endOf(run);
  const isStruck = await reach(process, outside, place, drive);
  if (isStruck && (fault === 'crash' || fault === 'stall')) await loseIt(board, sessionId, place);
  else if (isStruck) await goOn(process, outside, place, drive);
  const asked = await rest(board, session, process, outside, name);
  if (isStruck && fault === 'stall') {
    process.clock.advance(LONG_MS);
    process.plan.resume();
    outside.mayReturn.open();
    await drive;
    await rest(board, session, process, outside, name);
  }
  void process.plan.crash(); // nothing of it may go on to wait
  await checkSession(board.database, session);
  if (!isStruck) return '–';
  return describeEnd(await endingOf(board.database, session, name), { outside, asked });
}

/** Resolves when the process does not drive the session any more; never for one that died. */
async function endOf(run: Run): Promise<void> {
  for await (const _ of run);
}

/** Brings the process to the place. `false`: it never came there. */
async function reach(process: SimulatedProcess, outside: Outside, place: Place, drive: Promise<void>) {
  let isStruck = false;
  const struck = process.plan.struck.then(() => {
    isStruck = true;
  });
  if (place === 'beforeEvidence') {
    // Its time is over before it returns: what it returns is evidence.
    await outside.acted.opened;
    process.clock.advance(OVERTIME_MS);
    await drive;
    outside.mayReturn.open();
    await Promise.race([struck, ticks()]);
  } else if (place.startsWith('beforeHeartbeat')) {
    await outside.acted.opened;
    process.clock.advance(HEARTBEAT_MS);
    await struck;
  } else {
    outside.mayReturn.open();
    await Promise.race([struck, drive]);
  }
  return isStruck;
}

/** Nobody hears of the process any more, and all that is bound to its life is over. */
async function loseIt({ database }: Board, sessionId: string, place: Place): Promise<void> {
  // The system closes the connections of a dead process, and the server ends a transaction that is silent for too long. COMMIT is carried out.
  if (!/commitSent|afterCommit/.test(place)) {
    const held = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint << 32 | objid::bigint = $1`;
    await database.query(`SELECT pg_terminate_backend(pid) FROM (${held}) holder`, [lockKey(sessionId)]);
  }
  await loseTime(database, sessionId);
}

/** The process lives, and has trouble that passes. */
async function goOn(process: SimulatedProcess, outside: Outside, place: Place, drive: Promise<void>): Promise<void> {
  if (place.startsWith('before') && !place.endsWith('Effect')) await process.hasNoticed;
  outside.mayReturn.open();
  await drive;
}

/**
 * Waits until the session rests and nothing is on its way any more. A person who is asked looks at the outside world and says what is true.
 *
 * @returns what was said: `done` or `not done`.
 */
async function rest(board: Board, session: Session, process: SimulatedProcess, outside: Outside, name: string) {
  const said: ('done' | 'not done')[] = [];
  for (;;) {
    await ticks();
    const late = process.plan.passages.filter(({ point }) => point === 'beforeEvidence').length;
    const lost = process.plan.isCrashed || process.plan.isPaused ? 1 : 0;
    const state = await waitFor(() => restingState(board, session.sessionId, late - lost), {
      for: `${name} to rest`,
      everyMs: 60,
      timeoutMs: 60_000,
    });
    if (state !== 'AWAITING_INPUT') return said;
    const isDone = outside.acts.length > 0;
    said.push(isDone ? 'done' : 'not done');
    const { executionId } = (await session.status()).awaiting[0]!;
    const settlement = isDone
      ? ({ outcome: 'succeeded', output: outputOf(name), by: 'person' } as const)
      : ({ outcome: 'runAgain', by: 'person' } as const);
    await session.settle(executionId, settlement);
  }
}

/** The state of a session that rests with so much evidence, of which none is left to take. */
async function restingState({ database }: Board, sessionId: string, evidence: number): Promise<string | undefined> {
  const [row] = await database.query(
    `SELECT current_state FROM turnlock.agent_sessions s
      WHERE session_id = $1 AND current_state IN ('IDLE', 'AWAITING_INPUT') AND lease_holder IS NULL AND wake_at IS NULL
        AND (SELECT count(*) FROM turnlock.agent_tool_evidence e WHERE e.session_id = s.session_id) >= $2`,
    [sessionId, evidence],
  );
  return row?.current_state;
}

/** Some turns of the event loop: what is only a matter of promises has happened by then. */
async function ticks(): Promise<void> {
  for (let left = 10; left > 0; left -= 1) await tick();
}
