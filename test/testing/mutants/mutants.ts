import type { ToolPolicyCheck } from '../../../testing/check-tool-policy.ts';
import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import type { rightTools } from './right-tools.ts';

/** A guard of the code that is taken out, and a check that finds that it is gone. */
export interface Mutant {
  /** As in test/invariants/code/code-guards.ts. */
  readonly guard: string;
  /** What the check is made of. */
  readonly tools: Parameters<typeof rightTools>[0];
  readonly options: Pick<
    ToolPolicyCheck<unknown>,
    'seed' | 'numRuns' | 'endOnFailure' | 'faults' | 'sessions' | 'database'
  >;
  /** The promise of Turnlock's that is seen broken. */
  readonly breaks: string;
}

/** One session: who meets anybody meets them there. */
const ONE = { sessions: { tenants: 1, users: 1, sessions: 1 }, numRuns: 200, endOnFailure: true } as const;

/** One for each guard that the kit finds. */
export const mutants: readonly Mutant[] = [
  {
    guard: 'the comparison of the fencing token',
    tools: ['act'],
    options: { ...ONE, seed: 5, faults: ['stall'] },
    breaks: PROMISE_NAMES.fenced,
  },
  {
    guard: 'the lease that is still live',
    tools: ['note'],
    options: { ...ONE, seed: 3, faults: [] },
    breaks: PROMISE_NAMES.taken,
  },
  {
    guard: 'the look-up of the event id',
    tools: ['note'],
    options: { ...ONE, seed: 4, faults: [] },
    breaks: PROMISE_NAMES.resent,
  },
  {
    guard: 'a message begins a run only where none waits',
    tools: ['note'],
    options: { ...ONE, seed: 5, faults: [] },
    breaks: PROMISE_NAMES.order,
  },
  {
    guard: 'a drive looks for messages that came past the lock',
    tools: ['note'],
    options: { ...ONE, seed: 3, faults: [] },
    breaks: PROMISE_NAMES.interrupted,
  },
  {
    guard: 'a heartbeat hears what cannot wait for the next commit',
    tools: ['note'],
    options: { ...ONE, seed: 4, faults: [] },
    breaks: PROMISE_NAMES.heard,
  },
  {
    guard: 'a reply is final only where no message waits',
    tools: ['note'],
    options: { ...ONE, seed: 5, faults: [] },
    breaks: PROMISE_NAMES.refused,
  },
  {
    guard: 'a call is unknown only after its deadline',
    tools: ['act'],
    options: { ...ONE, seed: 5, faults: ['crash'] },
    breaks: PROMISE_NAMES.asked,
  },
];

/** Guards that only show where two transactions overlap: on the one connection of PGlite none do. */
export const BEHIND_ONE_CONNECTION: readonly string[] = [
  'the advisory lock of a commit',
  'the version in the WHERE of a commit',
  'the lock that a takeover only tries',
  'the lock under which evidence is kept',
];
