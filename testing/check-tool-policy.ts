import type fc from 'fast-check';
import { TurnlockError } from '../errors.ts';
import { checkOptions } from '../runtime/check-options.ts';
import { PgliteLoan } from './database/pglite-loan.ts';
import type { FaultKind } from './faults/fault-plan.ts';
import { describeCommand } from './plan/describe-command.ts';
import type { Plan } from './plan/plan.ts';
import { readPlan, writePlan } from './plan/plan-text.ts';
import { plansOfSeed } from './plan/plans-of-seed.ts';
import { shrinkPlan } from './plan/shrink-plan.ts';
import { type Broken, playPlan } from './play/play-plan.ts';
import { failureText } from './report/failure-text.ts';
import type { ToolPolicyReport } from './report/tool-policy-report.ts';
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
   * somebody who looks at the world settles an unknown outcome. Default: unknown outcomes stay unknown.
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
  /** Plays one run alone: the text that a failure report gives. Default: none. */
  replay?: string;
  /**
   * A folder: where something is broken, what the shortest run left in the database is kept in a new folder within it, and the report says how
   * to look at it with the inspector, moment by moment. Default: it is not kept.
   */
  keepIn?: string;
  /** Where it is played. Default: a PGlite of this process, which one check has after the other. */
  database?: 'pglite';
}

const OPTIONS = [
  ...['world', 'tools', 'calls', 'invariants', 'everyStep', 'policy', 'people', 'faults', 'sessions', 'numRuns'],
  ...['seed', 'replay', 'keepIn', 'database'],
];

const FAULTS: readonly FaultKind[] = ['crash', 'stall', 'disconnect', 'timeout'];

/**
 * Plays runs of sessions whose model asks for calls of your tools, while processes are killed, stall and lose their connections, messages come
 * twice, people contradict each other and the clock jumps; then everything is brought to rest, and the invariants are checked, those of
 * Turnlock too. The first run that breaks one is made as short as possible and reported with a line that plays it again. It throws nothing
 * for what it found.
 *
 * On PGlite one seed gives the same runs: time and ids are the kit's.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted. What `world` or `tools` throw.
 * @example
 * const report = await checkToolPolicy({ world: newBank, tools: (bank, process) => [refundTool(bank, process)], calls: { refund }, invariants });
 * if (!report.ok) throw new Error(report.failure.text);
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
    replay,
    keepIn,
  } = options;
  checkShape(options);
  const { tenants = 2, users = 2, sessions = 3 } = options.sessions ?? {};
  const { world, tools, policy, people } = options;
  const subject: Subject<World> = { world, tools, policy, people, tenants, users };
  const replayed = replay === undefined ? null : readPlan(replay);
  const loan = new PgliteLoan();
  const judge = async (plan: Plan, told?: { keepIn: string | undefined }) =>
    playPlan(await loan.database(), subject, plan, { invariants, everyStep, isTold: told !== undefined, ...told });
  try {
    const found =
      replayed === null
        ? await search(plansOfSeed({ calls, sessions, faults }, { numRuns, seed }), judge)
        : await playOne(replayed, judge);
    if (found.failure === null) return { ok: true, runs: found.runs, seed, failure: null };
    const { plan, broken } = found.failure;
    const fails = async (one: Plan) => (await judge(one)).broken?.invariant === broken.invariant;
    const shortest = replayed === null ? (await shrinkPlan(plan, calls, fails)).plan : plan;
    return report(shortest, broken, await judge(shortest, { keepIn }), { seed, runs: found.runs });
  } finally {
    loan.giveBack();
  }
}

interface Found {
  runs: number;
  failure: { plan: Plan; broken: Broken } | null;
}

type Judge = (plan: Plan) => ReturnType<typeof playPlan>;

/** Plays one plan after the other until one breaks something. */
async function search(plans: Iterable<Plan>, judge: Judge): Promise<Found> {
  let runs = 0;
  for (const plan of plans) {
    runs += 1;
    const { broken } = await judge(plan);
    if (broken !== null) return { runs, failure: { plan, broken } };
  }
  return { runs, failure: null };
}

async function playOne(plan: Plan, judge: Judge): Promise<Found> {
  const { broken } = await judge(plan);
  return { runs: 1, failure: broken === null ? null : { plan, broken } };
}

function report(
  plan: Plan,
  first: Broken,
  told: Awaited<ReturnType<Judge>>,
  { seed, runs }: { seed: number; runs: number },
): ToolPolicyReport {
  const { invariant, message } = told.broken ?? first;
  const commands = plan.commands.map(describeCommand);
  const { timeline, kept } = told;
  const failure = { invariant, message, commands, timeline, replay: writePlan(plan), kept };
  const text = failureText(failure, { call: 'checkToolPolicy', seed, runs });
  return { ok: false, runs, seed, failure: { ...failure, text } };
}

/** @throws OPTIONS_INVALID for what would only break further in. */
function checkShape<World>({
  world,
  tools,
  calls,
  invariants,
  numRuns,
  faults,
  keepIn,
  database,
}: ToolPolicyCheck<World>): void {
  if (typeof world !== 'function') throw refused('world', 'a function that makes the world');
  if (typeof tools !== 'function') throw refused('tools', 'a function that makes the tools of a process');
  if (typeof calls !== 'object' || calls === null || Object.keys(calls).length === 0) {
    throw refused('calls', 'arbitraries of params, by the names of the tools');
  }
  if (typeof invariants !== 'object' || invariants === null)
    throw refused('invariants', 'functions, by their names in words');
  if (numRuns !== undefined && !(Number.isInteger(numRuns) && numRuns >= 1))
    throw refused('numRuns', 'a whole number from 1 on');
  if (faults?.some((fault) => !FAULTS.includes(fault))) throw refused('faults', `some of ${FAULTS.join(', ')}`);
  if (keepIn !== undefined && (typeof keepIn !== 'string' || keepIn === '')) throw refused('keepIn', 'a folder');
  if (database !== undefined && database !== 'pglite') throw refused('database', 'pglite');
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of checkToolPolicy (wanted ${wanted})`,
  });
}
