import fc from 'fast-check';
import { EFFECT_CLASSES, type EffectClass } from '../../../machines/execution-status.ts';
import type { FaultKind } from '../../../testing/faults/fault-plan.ts';

/** What a policy says of a call. */
export type Verdict = 'allow' | 'ask' | 'deny';

/** What one attempt comes to: how it goes, and what its process can tell of it. Attempts without one act and return. */
export type Ending =
  | 'acts'
  /** It does nothing and throws: for good, or wanting another attempt. */
  | 'refuses'
  | 'wantsRetry'
  /** It says that it does not know: after it acted, or without having acted. */
  | 'losesAnswer'
  | 'losesRequest'
  /** It acts and then waits, heeding its signal or not. */
  | 'hangs'
  | 'hangsDeafly';

/** Whether and how a repeat of the same call runs, for the classes where that is a question. */
export type Guard = 'none' | 'oncePerSession' | 'oncePerTenant' | 'ask' | 'answer' | 'run';

/** One tool of a plot. Params are `{ n }` with 1 to 3. */
export interface ToolPlot {
  effect: EffectClass;
  guard: Guard;
  /** Attempts in all; `null`: a failure is final. */
  retry: number | null;
  repeatable: boolean;
  /** By `n` from 1 on: what its policy says of a call that is asked for, and of one that had to wait and is about to start. */
  verdicts: { asked: Verdict; atStart: Verdict }[];
  /** Until when people may decide. */
  expiry: 'never' | 'failCall' | 'failSession';
  /** By attempt, from the first on. */
  endings: Ending[];
  /** Whether one attempt has next to no time. */
  isBrief: boolean;
  /** What `reconcile` says. */
  reconcile: 'truth' | 'cannotTell';
}

/** One call of a scripted answer. */
export interface CallPlot {
  /** Counted on from the first tool again where there are fewer. */
  tool: number;
  n: number;
  /** There is no such tool; the params fit no schema; the arguments are no JSON. */
  flaw: 'none' | 'ghost' | 'misfit' | 'noJson';
}

/** One message of a session's user: the answers of the model, of which the last one, a plain reply, is implied. */
export interface MessagePlot {
  session: number;
  answers: CallPlot[][];
  /** Nobody looks after what it comes to before the next message is sent. */
  isLeft: boolean;
}

/** What people do when they are asked, or when a call does not come back. */
export const MOVES = [
  ...['approve', 'amend', 'deny', 'both', 'twice', 'late', 'stale', 'expire', 'supersede', 'cancel'],
  ...['succeeded', 'failed', 'runAgain', 'truth'],
] as const;
export interface Move {
  does: (typeof MOVES)[number];
  /** Which of those that wait, and which params in place of theirs. */
  which: number;
  n: number;
}

/** Where a fault strikes a process: after so many passages of the points at which it may. */
export interface StrikePlot {
  after: number;
  fault: FaultKind;
}

/** Everything of one play. */
export interface Plot {
  tools: ToolPlot[];
  messages: MessagePlot[];
  moves: Move[];
  /** Of one process after the other; further ones are not struck. */
  lives: StrikePlot[][];
  maxParallelTools: number;
}

/** Values of `n`. */
export const MAX_N = 3;

/** Objects as they are written, so that a counterexample can be read. */
function record<Value>(parts: { [Key in keyof Value]: fc.Arbitrary<Value[Key]> }): fc.Arbitrary<Value> {
  return fc.record(parts, { noNullPrototype: true }) as fc.Arbitrary<Value>;
}

/** The first one is the simplest: a counterexample shrinks to it. */
const verdict = fc.constantFrom<Verdict[]>('allow', 'allow', 'allow', 'ask', 'ask', 'deny');

const ending = fc.constantFrom<Ending[]>(
  ...(['acts', 'acts', 'refuses', 'wantsRetry', 'losesAnswer', 'losesRequest', 'hangs', 'hangsDeafly'] as const),
);

const tool: fc.Arbitrary<ToolPlot> = record<ToolPlot>({
  effect: fc.constantFrom<EffectClass[]>('nonRepeatable', ...EFFECT_CLASSES),
  guard: fc.constantFrom<Guard[]>('none', 'oncePerTenant', 'oncePerSession', 'ask', 'answer', 'run'),
  retry: fc.constantFrom(null, 2, 3),
  repeatable: fc.constantFrom(false, false, false, true),
  verdicts: fc.array(record({ asked: verdict, atStart: verdict }), { minLength: MAX_N, maxLength: MAX_N }),
  expiry: fc.constantFrom('never' as const, 'never' as const, 'failCall' as const, 'failSession' as const),
  endings: fc.array(ending, { maxLength: 3 }),
  isBrief: fc.boolean(),
  reconcile: fc.constantFrom('truth' as const, 'truth' as const, 'cannotTell' as const),
});

const call: fc.Arbitrary<CallPlot> = record({
  tool: fc.nat(2),
  n: fc.constantFrom(1, 1, 2, MAX_N),
  flaw: fc.constantFrom<CallPlot['flaw'][]>(...Array<'none'>(12).fill('none'), 'ghost', 'misfit', 'noJson'),
});

const message: fc.Arbitrary<MessagePlot> = record({
  session: fc.nat(1),
  answers: fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
  isLeft: fc.boolean(),
});

const move: fc.Arbitrary<Move> = record({
  does: fc.constantFrom(...MOVES, 'approve' as const, 'approve' as const, 'amend' as const),
  which: fc.nat(2),
  n: fc.integer({ min: 1, max: MAX_N }),
});

const strike: fc.Arbitrary<StrikePlot> = record({
  after: fc.oneof(fc.nat(20), fc.nat(120)),
  fault: fc.constantFrom<FaultKind[]>('crash', 'crash', 'stall', 'disconnect', 'timeout'),
});

export const plot: fc.Arbitrary<Plot> = record({
  tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
  messages: fc.array(message, { minLength: 1, maxLength: 4 }),
  moves: fc.array(move, { maxLength: 8 }),
  lives: fc.array(fc.array(strike, { maxLength: 2 }), { maxLength: 3 }),
  maxParallelTools: fc.integer({ min: 1, max: 3 }),
});
