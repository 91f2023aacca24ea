import type fc from 'fast-check';
import { checkOptions } from '../runtime/check-options.ts';
import { checkToolPolicyShape, FAULTS } from './check-shape.ts';
import { checkedSubject } from './checked-subject.ts';
import { type NextDatabase, onDatabase } from './database/on-database.ts';
import type { FaultKind } from './faults/fault-plan.ts';
import { describeCommand } from './plan/describe-command.ts';
import type { Plan } from './plan/plan.ts';
import { readPlan, writePlan } from './plan/plan-text.ts';
import { plansOfSeed } from './plan/plans-of-seed.ts';
import { shrinkPlan } from './plan/shrink-plan.ts';
import { type Broken, type Judging, type Played, playPlan } from './play/play-plan.ts';
import { failureText } from './report/failure-text.ts';
import { PlayedCount, type PlayedTools } from './report/played-tools.ts';
import type { ToolPolicyReport } from './report/tool-policy-report.ts';
import { toolsText } from './report/tools-text.ts';
import { seedByChance } from './seed-by-chance.ts';
import type { Invariants, Seen, Subject } from './subject.ts';

/** What {@link checkToolPolicy} takes. */
export interface ToolPolicyCheck<World> extends Pick<Subject<World>, 'world' | 'tools' | 'policy' | 'people'> {
  /** The outside world (the bank, the booking system), made anew for each run. It outlives every process of the run. Code in memory. */
  world: () => World;
  /** The tools, made once for each process. */
  tools: Subject<World>['tools'];
  /**
   * What the model may ask, per tool: params that are valid; the kit adds calls that are malformed, equal or parallel. Keep them few: two or
   * three orders, a few amounts.
   */
  calls: { readonly [toolName: string]: fc.Arbitrary<unknown> };
  /** What must hold once the system has come to rest. */
  invariants: Invariants<Seen<World>>;
  /** Whether the invariants are checked after each command too. Default false. */
  everyStep?: boolean;
  /** A policy above those of the tools, for all of them; the stricter verdict counts. Default: none. */
  policy?: Subject<World>['policy'];
  /**
   * Operators approve and deny, late, twice and contradicting each other; whoever is asked whether to repeat a call says no. `settle`: how
   * somebody who looks at the world settles an unknown outcome, within five seconds of real time, with an output that the tool could have
   * returned. Default: unknown outcomes stay unknown.
   */
  people?: Subject<World>['people'];
  /** What goes wrong. Default: all of them. */
  faults?: readonly FaultKind[];
  /** Default: two tenants of two users, three sessions. */
  sessions?: { tenants?: number; users?: number; sessions?: number };
  /** How many runs; a whole number from 1 on. Default 200. */
  numRuns?: number;
  /** Gives the same runs again. Default: by chance, told with the report. */
  seed?: number;
  /** Whether what is found is reported as it was found, in place of a shorter run that breaks the same, which takes some time. Default false. */
  endOnFailure?: boolean;
  /** Plays one run alone: the text that a failure report gives. Default: none. */
  replay?: string;
  /**
   * A folder: where something is broken, what the shortest run left in the database is kept in a new folder within it, and the report says how
   * to look at it with the inspector, moment by moment. On PGlite alone. Default: it is not kept.
   */
  keepIn?: string;
  /**
   * Where it is played: in PGlite, or on a PostgreSQL server, 15 or newer, that `url` leads to (`postgres://…`). Its role has to be allowed to
   * create databases: the kit makes one of its own, named `turnlock_kit_…`, touches no other one, and drops it at the end. There each process
   * has connections of its own, so what two of them do overlaps, statement by statement: a seed gives the same plans, and not the same order
   * of statements. What is found is played several times while it is made shorter, and counts where one of them breaks it. Default: a PGlite
   * of this process, which one check has after the other.
   */
  database?: 'pglite' | { readonly url: string };
  /**
   * Makes tables for transactional tools, once, before the first run; between two runs they are emptied. `query` sends one statement and gives
   * its rows. Default: none. With it a check on PGlite has one to itself, which takes seconds to open.
   */
  prepare?: (query: (text: string, values?: unknown[]) => Promise<unknown[]>) => Promise<void>;
}

const OPTIONS = [
  ...['world', 'tools', 'calls', 'invariants', 'everyStep', 'policy', 'people', 'faults', 'sessions', 'numRuns'],
  ...['seed', 'endOnFailure', 'replay', 'keepIn', 'database', 'prepare'],
];

/** How often a plan is played on a server: again, to see whether it always breaks what it broke; until it counts as not breaking it; for people. */
const PLAYS = { again: 3, candidate: 4, told: 5 };

/**
 * Plays runs of sessions whose model asks for calls of your tools, while processes are killed, stall and lose their connections, messages come
 * twice, people contradict each other and the clock jumps; then everything is brought to rest, and the invariants are checked, those of
 * Turnlock too. The first run that breaks one is made as short as possible and reported with a line that plays it again. It throws nothing
 * for what it found.
 *
 * On PGlite one seed gives the same runs: time and ids are the kit's. On a server it gives the same plans.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted, also by what it gives or where it does not answer. DATABASE_UNREACHABLE, DATABASE_LOGIN_REFUSED, DATABASE_UNSUPPORTED and
 * PRIVILEGE_MISSING of a server, on which nothing is left then. What `world`, `tools`, `people.settle` or `prepare` throw.
 * @example
 * const report = await checkToolPolicy({ world: newBank, tools: (bank, process) => [refundTool(bank, process)], calls: { refund }, invariants });
 * if (!report.ok) throw new Error(report.text);
 */
export async function checkToolPolicy<World>(check: ToolPolicyCheck<World>): Promise<ToolPolicyReport> {
  const options = checkOptions(check, 'checkToolPolicy', OPTIONS);
  const {
    calls,
    invariants,
    everyStep = false,
    faults = FAULTS,
    numRuns = 200,
    seed = seedByChance(),
    endOnFailure = false,
    replay,
    keepIn,
  } = options;
  checkToolPolicyShape(options);
  const { tenants = 2, users = 2, sessions = 3 } = options.sessions ?? {};
  const { world, tools, policy, people } = options;
  const given: Subject<World> = { world, tools, policy, people, tenants, users };
  const { subject, checkNames } = checkedSubject(given, Object.keys(calls));
  const replayed = replay === undefined ? null : readPlan(replay, Object.keys(calls));
  const { database = 'pglite', prepare } = options;
  const plays = database === 'pglite' ? { again: 0, candidate: 1, told: 1 } : PLAYS;
  return onDatabase(database, prepare, async (next) => {
    const judge = judgeOn(next, subject, { invariants, everyStep });
    const count = new PlayedCount(Object.keys(calls));
    const counted: Judge = async (one) => {
      const came = await judge(one);
      count.add(came.run);
      return came;
    };
    const found =
      replayed === null
        ? await search(plansOfSeed({ calls, sessions, tenants, faults }, { numRuns, seed }), counted, checkNames)
        : await playUntil(replayed, plays.told, counted);
    const { played } = count;
    if (found.failure === null) {
      const text = toolsText(played, { runs: found.runs, isReplay: replayed !== null });
      return { ok: true, runs: found.runs, seed, played, failure: null, text };
    }
    const { plan, broken } = found.failure;
    const breaks = async (one: Plan) => (await judge(one)).broken?.invariant === broken.invariant;
    const shortest = replayed === null && !endOnFailure ? await shorten(plan, calls, breaks, plays) : plan;
    const told = await tell(shortest, plays.told, (one) => judge(one, { keepIn }), broken.invariant);
    return report(shortest, broken, told, { seed, runs: found.runs, played });
  });
}

interface Found {
  runs: number;
  failure: { plan: Plan; broken: Broken } | null;
}

/** `told`: somebody will read what happened. */
type Judge = (plan: Plan, told?: { keepIn: string | undefined }) => Promise<Played>;

function judgeOn<World>(next: NextDatabase, subject: Subject<World>, judging: Omit<Judging<World>, 'isTold'>): Judge {
  return async (plan, told) =>
    playPlan(await next(), subject, plan, { ...judging, isTold: told !== undefined, ...told });
}

/** Plays one plan after the other until one breaks something. */
async function search(plans: Iterable<Plan>, judge: Judge, checkNames: (isOver: boolean) => void): Promise<Found> {
  let runs = 0;
  for (const plan of plans) {
    runs += 1;
    const { broken } = await judge(plan);
    if (broken !== null) return { runs, failure: { plan, broken } };
    checkNames(false);
  }
  checkNames(true);
  return { runs, failure: null };
}

/** Plays a plan until it breaks something. */
async function playUntil(plan: Plan, most: number, judge: Judge): Promise<Found> {
  for (let runs = 1; runs <= most; runs += 1) {
    const { broken } = await judge(plan);
    if (broken !== null) return { runs, failure: { plan, broken } };
  }
  return { runs: most, failure: null };
}

/** A plan that does not break it each time is shortened by candidates that are played more than once. */
async function shorten(
  plan: Plan,
  calls: ToolPolicyCheck<unknown>['calls'],
  breaks: (plan: Plan) => Promise<boolean>,
  { again, candidate }: typeof PLAYS,
): Promise<Plan> {
  let isSteady = true;
  for (let play = 0; play < again && isSteady; play += 1) isSteady = await breaks(plan);
  const most = isSteady ? 1 : candidate;
  const fails = async (one: Plan): Promise<boolean> => {
    for (let play = 0; play < most; play += 1) if (await breaks(one)) return true;
    return false;
  };
  return (await shrinkPlan(plan, calls, fails)).plan;
}

/** A play of it for people: on a server one that breaks the invariant, out of all of them. */
interface Told extends Played {
  plays: number;
  breaking: number;
}

async function tell(plan: Plan, plays: number, judge: Judge, invariant: string): Promise<Told> {
  const all: Played[] = [];
  for (let play = 0; play < plays; play += 1) all.push(await judge(plan));
  const breaking = all.filter(({ broken }) => broken?.invariant === invariant);
  return { ...(breaking[0] ?? { ...(all[0] as Played), broken: null }), plays, breaking: breaking.length };
}

function report(
  plan: Plan,
  first: Broken,
  told: Told,
  { seed, runs, played }: { seed: number; runs: number; played: PlayedTools },
): ToolPolicyReport {
  const { invariant, message } = told.broken ?? first;
  const commands = plan.commands.map(describeCommand);
  const { timeline, kept, plays, breaking } = told;
  const failure = { invariant, message, commands, timeline, replay: writePlan(plan), kept };
  const text = failureText(failure, { call: 'checkToolPolicy', seed, runs, plays, breaking });
  return { ok: false, runs, seed, played, failure: { ...failure, text }, text };
}
