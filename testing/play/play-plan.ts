import { resolveLimits } from '../../limits.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import { checkHeard } from '../invariants/check-heard.ts';
import { checkPromises } from '../invariants/check-promises.ts';
import { owingSessions } from '../invariants/owing-sessions.ts';
import { PROMISE_NAMES } from '../invariants/promise-names.ts';
import { readSeen } from '../invariants/read-seen.ts';
import { saidBy } from '../invariants/said-by.ts';
import { describeCommand } from '../plan/describe-command.ts';
import type { Command, Plan } from '../plan/plan.ts';
import type { PlayedRun } from '../report/played-tools.ts';
import type { Invariants, Seen, SeenExecution, Subject } from '../subject.ts';
import { Client } from './client.ts';
import { NeverRests } from './never-rests.ts';
import { People } from './people.ts';
import { Stage } from './stage.ts';
import type { TimelineEntry } from './timeline.ts';

/** What one run was found to break. */
export interface Broken {
  /** The invariant, in words. */
  invariant: string;
  /** What was seen. */
  message: string;
}

/** What came of a run. */
export interface Played {
  broken: Broken | null;
  /** What it came to, to be counted. */
  run: PlayedRun;
  timeline: readonly TimelineEntry[];
  /** Where what it left is kept; `null`: nowhere. */
  kept: string | null;
}

/** How a run is judged, and whether somebody will read what happened. */
export interface Judging<World> {
  invariants: Invariants<Seen<World>>;
  /** Whether they are checked after each command too, and not at the end alone. */
  everyStep: boolean;
  isTold: boolean;
  /** A folder in which what it leaves is kept. */
  keepIn?: string | undefined;
}

/** Long after every lease, deadline and grace period, in milliseconds: what a run's end waits for. */
const LATER_MS = 10 * 60_000;

/**
 * What a model asks for at once comes to its end within so many rounds: it is taken over, `reconcile` is asked until it is given up, and people
 * decide.
 */
const ROUNDS_PER_REPLY = 12;

const { heartbeatMs: HEARTBEAT_MS } = resolveLimits();

/** Who acts from outside. */
interface Cast<World> {
  client: Client<World>;
  people: People<World>;
}

/** Plays a plan to its end, brings what is left to rest, and holds the invariants against what came of it. */
export async function playPlan<World>(
  database: KitDatabase,
  subject: Subject<World>,
  plan: Plan,
  judging: Judging<World>,
): Promise<Played> {
  const stage = new Stage(database, subject, plan, judging.isTold);
  try {
    const early = await playOn(stage, judging);
    // Whoever holds the one connection for ever lets nobody read.
    const executions = early !== null && stage.database.isHeld ? [] : await readSeen(stage.database);
    const broken = early ?? judge(stage, judging, executions);
    const kept = judging.keepIn === undefined ? null : await keep(stage, judging.keepIn);
    const run = { executions, calls: stage.calls, faults: stage.struck };
    return { broken, run, timeline: stage.timeline.entries, kept };
  } finally {
    await stage.close();
  }
}

/** Keeps what a run left; that it cannot be is told with the run, which was found all the same. */
async function keep<World>(stage: Stage<World>, parent: string): Promise<string | null> {
  try {
    return await stage.keepIn(parent);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    stage.timeline.note(null, () => `what it left cannot be kept in ${parent}: ${said}`);
    return null;
  }
}

/** Plays it until it is at rest. What was broken by then, of Turnlock's own promises or after a command. */
async function playOn<World>(stage: Stage<World>, judging: Judging<World>): Promise<Broken | null> {
  try {
    await stage.open();
    const cast = { client: new Client(stage), people: new People(stage) };
    for (const command of stage.plan.commands) {
      await playCommand(stage, cast, command);
      const broken =
        stage.broken.first ?? (judging.everyStep ? judge(stage, judging, await readSeen(stage.database)) : null);
      if (broken !== null) return broken;
    }
    await bringToRest(stage, cast);
  } catch (error) {
    if (error instanceof NeverRests) return { invariant: PROMISE_NAMES.rests, message: error.message };
    throw error;
  }
  stage.openPlaces();
  return stage.broken.first ?? (await checkPromises(stage)) ?? stage.writers.broken;
}

async function playCommand<World>(
  stage: Stage<World>,
  { client, people }: Cast<World>,
  command: Command,
): Promise<void> {
  stage.timeline.note(null, () => describeCommand(command));
  switch (command.type) {
    case 'message':
      return client.write(command);
    case 'sendAgain':
      return client.writeAgain(command.message);
    case 'fault':
      stage.due.push({ command, seen: 0 });
      return;
    case 'jump':
      return passTime(stage, command.ms, command.within);
    case 'linger':
      return linger(stage);
    case 'resume': {
      const process = await stage.living(command.process);
      stage.attempt(process, 'the return', async () => (await stage.session(process, command.session)).resume());
      return stage.quiet(true);
    }
    case 'decide':
      return people.decide(command);
    case 'cancel': {
      const process = await stage.living(1);
      stage.attempt(process, 'the cancel', async () => (await stage.session(process, command.session)).cancel());
      return stage.quiet();
    }
    case 'restart': {
      const process = await stage.living(command.process);
      process.isClosing = true;
      stage.attempt(process, 'the close', async () => {
        await process.runtime.close();
        process.isClosed = true;
      });
      return stage.quiet();
    }
  }
}

/** A heartbeat's time passes while tools are out: what was said past every process has reached them then. */
async function linger<World>(stage: Stage<World>): Promise<void> {
  await stage.quiet('inTools');
  const { strikes } = stage;
  const before = stage.clock.now();
  await stage.jump(HEARTBEAT_MS);
  await stage.quiet('inTools');
  // On a server somebody may wait for the lock of a tool that is out.
  const isClear = stage.strikes === strikes && (await stage.database.settled()) === 'atRest';
  if (isClear) await checkHeard(stage, before);
}

/**
 * The clock jumps; who was paused comes back, before or after the others have gone on without it. `within`: in the middle of what goes on, after
 * so many steps of it, and all of that at the same time.
 */
async function passTime<World>(stage: Stage<World>, ms: number, within?: number): Promise<void> {
  const rest = async (): Promise<void> => (within === undefined ? stage.quiet() : undefined);
  await (within === undefined ? stage.quiet() : stage.letOn(within));
  await stage.jump(ms);
  await wake(stage, true);
  await rest();
  const process = await stage.newest();
  stage.attempt(process, 'the look for work', () => process.runtime.recover());
  await rest();
  await wake(stage, false);
  await stage.quiet();
}

/** Lets those go on that come back now: early, late, or last, which is the second time that others have gone on without it. */
async function wake<World>(stage: Stage<World>, isEarly: boolean): Promise<void> {
  for (const process of stage.paused) {
    const { returnsEarly = false, returnsLast = false } = process.lostBy ?? {};
    if (isEarly) process.awayFor += 1;
    if (returnsEarly !== isEarly || (returnsLast && process.awayFor < 2)) continue;
    stage.timeline.note(process.number, () => 'goes on where it stood');
    process.plan.resume();
  }
}

/** Nothing goes wrong any more: what was not taken is sent again, what is owed is done, and people decide truthfully. */
async function bringToRest<World>(stage: Stage<World>, { client, people }: Cast<World>): Promise<void> {
  stage.timeline.note(null, () => 'nothing goes wrong any more');
  stage.due.length = 0;
  await stage.quiet();
  const most = ROUNDS_PER_REPLY * repliesOf(stage.plan);
  for (let round = 0; round < most; round += 1) {
    // What an old build cannot go on with, the new one does that takes the place of one that died.
    if (round === 2) await stage.replaceNewest();
    const isLost = await client.writeLost();
    const isDecided = await people.decideAll();
    const isAtWork = stage.paused.length > 0 || (await owingSessions(stage.database)).length > 0;
    if (!isDecided && !isLost && !isAtWork) return;
    await passTime(stage, LATER_MS);
  }
  throw new NeverRests(`after ${most} rounds there is still work that is owed`);
}

/** How often models ask for calls, one time after the other at the most. */
function repliesOf({ commands }: Plan): number {
  const counts = commands.map((command) =>
    command.type === 'message' ? command.replies.length + (command.insists ? 1 : 0) : 0,
  );
  return Math.max(
    1,
    counts.reduce((sum, count) => sum + count, 0),
  );
}

/** The first of the user's invariants that does not hold; `null`: all hold. */
function judge<World>(
  stage: Stage<World>,
  { invariants }: Judging<World>,
  executions: readonly SeenExecution[],
): Broken | null {
  const seen: Seen<World> = { world: stage.world, executions };
  for (const [invariant, holds] of Object.entries(invariants)) {
    const message = saidBy(invariant, () => holds(seen));
    if (message !== null) return { invariant, message };
  }
  return null;
}
