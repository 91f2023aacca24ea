import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import type { Command, MessageCommand, PlannedCall } from '../../../testing/plan/plan.ts';

/** A guard of the code that shows only where two transactions overlap, and plans by which it is seen that it is gone. */
export interface ServerMutant {
  /** As in test/invariants/code/code-guards.ts. */
  readonly guard: string;
  /** Texts of plans: that of the commands under one order of steps after the other. They are played until one breaks something. */
  readonly replays: readonly string[];
  /** What in the schema refuses the same, as statements that take it out, with the guard and without it. */
  readonly schema?: readonly string[];
  /** The promise of Turnlock's that is seen broken where the guard is there; `null`: all hold. */
  readonly holds: string | null;
  /** The promise that is seen broken without it. */
  readonly breaks: string;
}

function refund(order: string): PlannedCall {
  return { tool: 'refund', params: { order, cents: 50 } };
}

function message(process: number, more: Partial<MessageCommand> = {}): MessageCommand {
  return {
    type: 'message',
    session: 1,
    process,
    replies: [[refund('1')]],
    ...more,
  };
}

/** The commands under the orders 1, 2, …, or from `first` on. */
function plans(count: number, commandsOf: (order: number) => Command[], first = 1): string[] {
  return Array.from({ length: count }, (_, place) => {
    const order = place + first;
    return JSON.stringify({ form: 1, ids: 5, order, commands: commandsOf(order) });
  });
}

/** Two processes take messages for one session at the same time. */
const twoAtOnce = plans(4, () => [message(1, { isOvertaken: true }), message(2)]);

/** The lease of the one that is at work runs out in the middle of it, after more and more steps, while another process looks for work. */
const outInTheMiddle = plans(16, (order) => [
  message(2, { session: 2 }),
  message(1, { isOvertaken: true }),
  { type: 'jump', ms: 90_000, within: 10 + 3 * order },
]);

/**
 * Two late results of one process: the commit that takes the first has read, and is slow, while the second is kept; then the process dies. With
 * the lock the second is kept after that commit.
 */
const lateWhileTaken = plans(
  1,
  () => [
    { type: 'fault', fault: 'stall', point: 'place', occurrence: 2, returnsEarly: true },
    message(1, { replies: [[refund('1'), refund('2')]] }),
    { type: 'cancel', session: 1 },
    { type: 'fault', fault: 'stall', point: 'beforeEvidence', occurrence: 2, isBrief: true },
    { type: 'fault', fault: 'stall', point: 'afterLock', occurrence: 2, isBrief: true },
    { type: 'fault', fault: 'crash', point: 'afterCommit', occurrence: 7 },
    { type: 'jump', ms: 0 },
  ],
  0,
);

export const serverMutants: readonly ServerMutant[] = [
  {
    guard: 'the advisory lock of a commit',
    replays: twoAtOnce,
    holds: null,
    breaks: PROMISE_NAMES.writer,
  },
  {
    // The lock stands in front of it: where that is out too there are two writers, and the version keeps what they write apart.
    guard: 'the version in the WHERE of a commit',
    replays: twoAtOnce,
    schema: [
      'DROP TRIGGER guard_session_update ON turnlock.agent_sessions',
      'ALTER TABLE turnlock.agent_transitions DROP CONSTRAINT agent_transitions_pkey CASCADE',
      'ALTER TABLE turnlock.agent_transition_payloads DROP CONSTRAINT agent_transition_payloads_pkey',
      'ALTER TABLE turnlock.agent_turns DROP CONSTRAINT uq_session_turn_index',
    ],
    holds: PROMISE_NAMES.writer,
    breaks: PROMISE_NAMES.version,
  },
  {
    guard: 'the lock that a takeover only tries',
    replays: outInTheMiddle,
    holds: null,
    breaks: PROMISE_NAMES.writer,
  },
  {
    guard: 'the lock under which evidence is kept',
    replays: lateWhileTaken,
    holds: null,
    breaks: PROMISE_NAMES.evidence,
  },
];
