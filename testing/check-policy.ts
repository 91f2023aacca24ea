import fc from 'fast-check';
import type { PolicyVerdict } from '../adapters/tools/policy.ts';
import { TurnlockError } from '../errors.ts';
import { checkOptions } from '../runtime/check-options.ts';
import { checkPolicyShape } from './check-shape.ts';
import { VirtualClock } from './clock/virtual-clock.ts';
import { saidBy } from './invariants/said-by.ts';
import { describeMs } from './plan/describe-command.ts';
import type { Broken } from './play/play-plan.ts';
import { shown } from './play/shown.ts';
import { failureText } from './report/failure-text.ts';
import { countVerdict, noVerdicts, type PlayedPolicy } from './report/played-policy.ts';
import { policyText } from './report/policy-text.ts';
import type { PolicyReport } from './report/tool-policy-report.ts';
import { seedByChance } from './seed-by-chance.ts';
import type { Invariants } from './subject.ts';

/** What a policy that is checked alone is told beside the params. */
export interface PolicyCheckContext<World> {
  tenantId: string;
  userId: string;
  /** Milliseconds since 1970, by a clock that jumps between calls. */
  now: number;
  world: World;
}

/** What {@link checkPolicy} takes. */
export interface PolicyCheck<Params, World> {
  /** Judges one call, by what it is told and by the world as it is then. */
  policy: (params: Params, context: PolicyCheckContext<World>) => PolicyVerdict | Promise<PolicyVerdict>;
  /** What calls ask for. Keep them few: two or three orders, a few amounts. */
  params: fc.Arbitrary<Params>;
  /** The world, made anew for each sequence of calls. */
  world: () => World;
  /** What a call that runs does to the world. What it returns is waited for; its params are its own. */
  apply: (world: World, params: Params, context: Omit<PolicyCheckContext<World>, 'world'>) => void;
  /** What must hold after each call. */
  invariants: Invariants<World>;
  /** How many sequences of calls; a whole number from 1 on. Default 200. */
  numRuns?: number;
  /** Gives the same sequences again. Default: by chance, told with the report. */
  seed?: number;
  /** Plays one sequence alone: the text that a failure report gives. Default: none. */
  replay?: string;
}

/** One call of a sequence. */
interface Step<Params> {
  params: Params;
  tenant: number;
  user: number;
  /** Whether a person who is asked approves it. */
  isApproved: boolean;
  /** Milliseconds since the call before. */
  laterMs: number;
}

const OPTIONS = ['policy', 'params', 'world', 'apply', 'invariants', 'numRuns', 'seed', 'replay'];

/** Calls of one sequence, at most. */
const MAX_CALLS = 8;

const HOUR_MS = 3_600_000;

/**
 * Judges sequences of calls by a policy alone, without a database: what it allows, or a person approves, is applied to the world, and the
 * invariants are checked after each call. The first sequence that breaks one is made as short as possible. It throws nothing for what it found.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted. What `world` or `apply` throw.
 * @example
 * const report = await checkPolicy({ policy, params: fc.record({ order, cents }), world: () => new Map(), apply: book, invariants });
 */
export async function checkPolicy<Params, World>(check: PolicyCheck<Params, World>): Promise<PolicyReport> {
  const options = checkOptions(check, 'checkPolicy', OPTIONS);
  checkPolicyShape(options);
  const { seed = seedByChance(), numRuns = 200, replay } = options;
  const steps = fc.array(stepOf(options.params), { minLength: 1, maxLength: MAX_CALLS });
  let broken: Broken | null = null;
  const played = noVerdicts();
  const property = fc.asyncProperty(steps, async (calls) => {
    // What shortens a sequence does not count.
    const found = (await playSteps(options, calls, broken === null ? played : noVerdicts())).broken;
    if (found === null) return true;
    broken = found;
    return false;
  });
  const [from, path] = readReplay(replay, seed);
  const details =
    path === undefined
      ? await fc.check(property, { seed: from, numRuns })
      : await replayed(() => fc.check(property, { seed: from, numRuns, path, endOnFailure: true }));
  if (details.errorInstance !== null && details.errorInstance !== undefined && broken === null)
    throw details.errorInstance;
  if (!details.failed || details.counterexample === null) {
    const { numRuns: runs } = details;
    return { ok: true, runs, seed: from, played, failure: null, text: policyText(played, runs) };
  }
  const [calls] = details.counterexample;
  const told = await playSteps(options, calls, noVerdicts());
  const { invariant, message } = told.broken ?? (broken as unknown as Broken);
  const commands = calls.map(describeStep);
  const failure = {
    invariant,
    message,
    commands,
    timeline: told.timeline,
    replay: `${from}:${details.counterexamplePath ?? ''}`,
    kept: null,
  };
  const breaking = told.broken === null ? 0 : 1;
  const text = failureText(failure, { call: 'checkPolicy', seed: from, runs: details.numRuns, breaking });
  return { ok: false, runs: details.numRuns, seed: from, played, failure: { ...failure, text }, text };
}

function stepOf<Params>(params: fc.Arbitrary<Params>): fc.Arbitrary<Step<Params>> {
  return fc.record(
    {
      params,
      tenant: fc.constantFrom(1, 1, 2),
      user: fc.constantFrom(1, 2),
      isApproved: fc.boolean(),
      laterMs: fc.constantFrom(0, 1_000, HOUR_MS, 7 * HOUR_MS, 25 * HOUR_MS, 40 * 24 * HOUR_MS),
    },
    { noNullPrototype: true },
  );
}

async function playSteps<Params, World>(
  { policy, world: newWorld, apply, invariants }: PolicyCheck<Params, World>,
  steps: readonly Step<Params>[],
  played: PlayedPolicy,
): Promise<{ broken: Broken | null; timeline: { at: number; process: null; what: string }[] }> {
  const world = newWorld();
  const clock = new VirtualClock();
  const timeline: { at: number; process: null; what: string }[] = [];
  for (const step of steps) {
    clock.jump(step.laterMs);
    const context = { tenantId: `tenant-${step.tenant}`, userId: `user-${step.user}`, now: clock.now() };
    const verdict = await judge(policy, copyOf(step.params), { ...context, world });
    countVerdict(played, verdict, step.isApproved);
    const runs = verdict === 'allow' || (verdict === 'requireApproval' && step.isApproved);
    const asked = verdict === 'requireApproval' ? `, and a person ${step.isApproved ? 'approves' : 'denies'} it` : '';
    const said = verdict === null ? 'gives no verdict: it does not run' : `says ${verdict}${asked}`;
    timeline.push({ at: clock.monotonic(), process: null, what: `the policy ${said}` });
    if (!runs) continue;
    await apply(world, copyOf(step.params), context);
    timeline.push({ at: clock.monotonic(), process: null, what: `the world: ${shown(world, WORLD)}` });
    for (const [invariant, holds] of Object.entries(invariants)) {
      const message = saidBy(invariant, () => holds(world));
      if (message !== null) return { broken: { invariant, message }, timeline };
    }
  }
  return { broken: null, timeline };
}

const WORLD = { depth: 5, breakLength: Number.POSITIVE_INFINITY, compact: true } as const;

/** What the policy says; `null`: it throws, or gives no verdict, which refuses the call, as in a runtime. */
async function judge<Params, World>(
  policy: PolicyCheck<Params, World>['policy'],
  params: Params,
  context: PolicyCheckContext<World>,
): Promise<PolicyVerdict['type'] | null> {
  try {
    const verdict = (await policy(params, context)) as PolicyVerdict | undefined;
    return verdict?.type ?? null;
  } catch {
    return null;
  }
}

function describeStep<Params>({ params, tenant, user, isApproved, laterMs }: Step<Params>): string {
  const later = laterMs === 0 ? '' : `${describeMs(laterMs)} later `;
  return `${later}user ${user} of tenant ${tenant} asks for ${shown(params, WORLD)}; who is asked ${isApproved ? 'approves' : 'denies'}`;
}

/** @throws OPTIONS_INVALID for a text that no report gives. */
function readReplay(replay: string | undefined, seed: number): [seed: number, path?: string] {
  if (replay === undefined) return [seed];
  const [from, ...path] = replay.split(':');
  if (!/^-?\d+:\d+(:\d+)*$/.test(replay)) throw notReplayed('what a failure report says');
  return [Number(from), path.join(':')];
}

/**
 * What `play` comes to, which plays one sequence alone.
 *
 * @throws OPTIONS_INVALID where these params lead to none: of another check, or of arbitraries as they were before.
 */
async function replayed<Details extends { numRuns: number }>(play: () => Promise<Details>): Promise<Details> {
  const wanted = 'a sequence that params as these can have';
  let details: Details;
  try {
    details = await play();
  } catch (error) {
    throw notReplayed(`${wanted}: ${error instanceof Error ? error.message : error}`);
  }
  if (details.numRuns === 0) throw notReplayed(wanted);
  return details;
}

function notReplayed(wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: replay of checkPolicy (wanted ${wanted})`,
  });
}

/** `value` for somebody who may write into it: what arrays and plain objects hold is copied, anything else is as it is. */
function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const kind = Object.getPrototypeOf(value);
  if (kind !== Object.prototype && kind !== null) return value;
  return Object.assign(
    Object.create(kind),
    Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)])),
  );
}
