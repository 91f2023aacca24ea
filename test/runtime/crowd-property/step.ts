import fc from 'fast-check';
import type { WhenBusy } from '../../../persistence/inbox.ts';

/** How many processes there are: each step names the one that does it. */
export const PROCESSES = 3;

/** One call that a message makes the model ask for. */
export interface ScriptedCall {
  /** `charge` may not be repeated, `note` may; `brief` may not either, and has little time. */
  tool: 'charge' | 'note' | 'brief';
  /** It acts, and then waits until somebody lets it go. */
  held: boolean;
  /** It does not heed its signal. */
  deaf: boolean;
  /** It throws in the end. */
  fails: boolean;
}

/** What a message says, as JSON: the model does as it is told. */
export interface Wish {
  calls: ScriptedCall[];
  /** `held`: it waits before each answer; `broken`: it fails for good. */
  model?: 'held' | 'broken';
}

/** How a message is sent: by a handle, in a transaction that a client commits or rolls back, or by SQL alone. */
export type Way = 'handle' | 'committed' | 'rolledBack' | 'sql';

/** What one process does to the session. */
export type Deed =
  | { does: 'send'; id: string | null; way: Way; whenBusy: WhenBusy; wish: Wish }
  /** Opens the gate at which somebody waits longest, or all of them. */
  | { does: 'release'; all: boolean }
  /** Every lease and deadline is over, by the database's clock. */
  | { does: 'lapse' }
  | { does: 'settle'; outcome: 'succeeded' | 'failed' | 'runAgain' }
  /** A worker of the process, which finds by itself what is owed. */
  | { does: 'start' | 'stop' }
  | { does: 'cancel' | 'recover' | 'resume' | 'retry' | 'complete' | 'read' };

/** A deed, by whom, and how many fault points are passed (by anybody) before the next one begins. */
export type Step = Deed & { by: number; gap: number };

/** Objects as they are written, so that a counterexample can be read. */
function record<Value>(parts: { [Key in keyof Value]: fc.Arbitrary<Value[Key]> }): fc.Arbitrary<Value> {
  return fc.record(parts, { noNullPrototype: true }) as fc.Arbitrary<Value>;
}

const scriptedCall: fc.Arbitrary<ScriptedCall> = record({
  tool: fc.constantFrom<ScriptedCall['tool']>('charge', 'note', 'brief'),
  held: fc.boolean(),
  deaf: fc.boolean(),
  fails: fc.boolean(),
});

const model = fc.constantFrom<Wish['model'][]>(undefined, undefined, undefined, undefined, 'held', 'held', 'broken');

const wish: fc.Arbitrary<Wish> = record({ calls: fc.array(scriptedCall, { maxLength: 2 }), model }).map(
  ({ calls, model }) => (model === undefined ? { calls } : { calls, model }),
);

/** Two wishes of one message id are a conflict; as a rule there is only one. */
const send: fc.Arbitrary<Deed> = record({
  does: fc.constant('send'),
  id: fc.constantFrom(null, null, 'a', 'b'),
  way: fc.constantFrom<Way[]>('handle', 'handle', 'handle', 'committed', 'rolledBack', 'sql'),
  whenBusy: fc.constantFrom<WhenBusy[]>('enqueue', 'enqueue', 'reject', 'interrupt'),
  wish,
});

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 8, arbitrary: send },
  { weight: 3, arbitrary: record({ does: fc.constant('release' as const), all: fc.boolean() }) },
  { weight: 3, arbitrary: record({ does: fc.constant('lapse' as const) }) },
  { weight: 3, arbitrary: record({ does: fc.constant('recover' as const) }) },
  {
    weight: 2,
    arbitrary: record({
      does: fc.constant('settle' as const),
      outcome: fc.constantFrom('succeeded' as const, 'failed' as const, 'runAgain' as const),
    }),
  },
  { weight: 3, arbitrary: record({ does: fc.constantFrom('cancel' as const, 'resume', 'retry', 'read') }) },
  { weight: 1, arbitrary: record({ does: fc.constantFrom('complete' as const, 'start', 'stop') }) },
);

/** A step leaves the next one as little or as much time as it takes for anything to happen between them. */
const step: fc.Arbitrary<Step> = fc
  .tuple(deed, fc.nat(PROCESSES - 1), fc.oneof(fc.constant(0), fc.nat(12), fc.nat(120), fc.constant(1_000)))
  .map(([deed, by, gap]) => ({ ...deed, by, gap }));

/** What a crowd does, and how often each process of it makes a pause: so many turns of the event loop, at one fault point after the other. */
export interface Schedule {
  steps: Step[];
  pace: number[];
}

export const schedule: fc.Arbitrary<Schedule> = record({
  steps: fc.array(step, { minLength: 2, maxLength: 14 }),
  pace: fc.array(fc.nat(30), { maxLength: 4 }),
});
