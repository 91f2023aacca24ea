import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import type { Command, MessageCommand } from '../../../testing/plan/plan.ts';

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

function message(process: number, more: Partial<MessageCommand> = {}): MessageCommand {
  return {
    type: 'message',
    session: 1,
    process,
    replies: [[{ tool: 'refund', params: { order: '1', cents: 50 } }]],
    ...more,
  };
}

/** The commands under the orders 1, 2, … */
function plans(count: number, commandsOf: (order: number) => Command[]): string[] {
  return Array.from({ length: count }, (_, place) => {
    const order = place + 1;
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
];
