import { isTurnlockError } from '../../errors.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import { checkPromises } from '../invariants/check-promises.ts';
import { owingSessions } from '../invariants/owing-sessions.ts';
import { PROMISE_NAMES } from '../invariants/promise-names.ts';
import { readSeen } from '../invariants/read-seen.ts';
import { saidBy } from '../invariants/said-by.ts';
import { describeCommand } from '../plan/describe-command.ts';
import type { Command, MessageCommand, Plan } from '../plan/plan.ts';
import type { Invariants, Seen, Subject } from '../subject.ts';
import { NeverRests } from './never-rests.ts';
import { People } from './people.ts';
import type { KitProcess } from './process.ts';
import { type Sent, Stage } from './stage.ts';
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

/** A run comes to rest within fewer rounds. */
const MAX_ROUNDS = 12;

/** Plays a plan to its end, brings what is left to rest, and holds the invariants against what came of it. */
export async function playPlan<World>(
  database: KitDatabase,
  subject: Subject<World>,
  plan: Plan,
  judging: Judging<World>,
): Promise<Played> {
  const stage = new Stage(database, subject, plan, judging.isTold);
  try {
    const broken = await playOn(stage, judging);
    const kept = judging.keepIn === undefined ? null : await stage.keepIn(judging.keepIn);
    return { broken, timeline: stage.timeline.entries, kept };
  } finally {
    await stage.close();
  }
}

async function playOn<World>(stage: Stage<World>, judging: Judging<World>): Promise<Broken | null> {
  try {
    await stage.open();
    const people = new People(stage);
    for (const command of stage.plan.commands) {
      await playCommand(stage, people, command);
      const broken = findBroken(stage) ?? (judging.everyStep ? await judge(stage, judging) : null);
      if (broken !== null) return broken;
    }
    await bringToRest(stage, people);
  } catch (error) {
    if (error instanceof NeverRests) return { invariant: PROMISE_NAMES.rests, message: error.message };
    throw error;
  }
  return findBroken(stage) ?? (await checkPromises(stage)) ?? (await judge(stage, judging));
}

async function playCommand<World>(stage: Stage<World>, people: People<World>, command: Command): Promise<void> {
  stage.timeline.note(null, () => describeCommand(command));
  switch (command.type) {
    case 'message':
      return sendMessage(stage, command);
    case 'sendAgain': {
      const sent = stage.sent.at(-command.message);
      if (sent === undefined) return;
      send(stage, await stage.living(1), sent);
      return stage.quiet();
    }
    case 'fault':
      stage.due.push({ command, seen: 0 });
      return;
    case 'jump':
      return passTime(stage, command.ms);
    case 'decide':
      return people.decide(command);
    case 'cancel': {
      const process = await stage.living(1);
      stage.attempt(process, 'the cancel', async () => (await stage.session(process, command.session)).cancel());
      return stage.quiet();
    }
    case 'restart': {
      const process = await stage.living(command.process);
      stage.attempt(process, 'the close', async () => {
        await process.runtime.close();
        process.isClosed = true;
      });
      return stage.quiet();
    }
  }
}

async function sendMessage<World>(stage: Stage<World>, command: MessageCommand): Promise<void> {
  const place = stage.sent.length + 1;
  const sent: Sent = { command, text: `message ${place}`, messageId: `m${place}`, isTaken: false };
  stage.sent.push(sent);
  send(stage, await stage.living(command.process), sent);
  await stage.quiet(command.isOvertaken === true);
}

/** Sends a message, once more where it was sent before: with the same id it is the same message. */
function send<World>(stage: Stage<World>, process: KitProcess, sent: Sent): void {
  const { command, text, messageId } = sent;
  stage.attempt(process, text, async () => {
    const session = await stage.session(process, command.session);
    const options = { messageId, ...(command.whenBusy === undefined ? {} : { whenBusy: command.whenBusy }) };
    await session.send(text, options).catch(async (error: unknown) => {
      // A session whose last run failed takes no message before somebody has looked after it.
      if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
      await session.retry({ by: 'operator' });
      await session.send(text, options);
    });
    sent.isTaken = true;
  });
}

/** The clock jumps; who was paused comes back, before or after the others have gone on without it. */
async function passTime<World>(stage: Stage<World>, ms: number): Promise<void> {
  await stage.quiet();
  await stage.jump(ms);
  await wake(stage, true);
  await stage.quiet();
  const process = await stage.newest();
  stage.attempt(process, 'the look for work', () => process.runtime.recover());
  await stage.quiet();
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
async function bringToRest<World>(stage: Stage<World>, people: People<World>): Promise<void> {
  stage.timeline.note(null, () => 'nothing goes wrong any more');
  stage.due.length = 0;
  await stage.quiet();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const lost = stage.sent.filter(({ isTaken }) => !isTaken);
    for (const sent of lost) {
      send(stage, await stage.newest(), sent);
      await stage.quiet();
    }
    const isDecided = await people.decideAll();
    if (
      !isDecided &&
      lost.every(({ isTaken }) => isTaken) &&
      stage.paused.length === 0 &&
      (await owingSessions(stage.database)).length === 0
    )
      return;
    await passTime(stage, LATER_MS);
  }
  throw new NeverRests(`after ${MAX_ROUNDS} rounds there is still work that is owed`);
}

/** What can be seen at once, without a look at the database. */
function findBroken<World>({ broken, calls }: Stage<World>): Broken | null {
  const [first] = broken;
  if (first !== undefined) return { invariant: PROMISE_NAMES.runtime, message: first };
  const [seen] = calls.broken;
  return seen === undefined ? null : { invariant: seen[0], message: seen[1] };
}

async function judge<World>(stage: Stage<World>, { invariants }: Judging<World>): Promise<Broken | null> {
  const seen: Seen<World> = { world: stage.world, executions: await readSeen(stage.database) };
  for (const [invariant, holds] of Object.entries(invariants)) {
    const message = saidBy(() => holds(seen));
    if (message !== null) return { invariant, message };
  }
  return null;
}
