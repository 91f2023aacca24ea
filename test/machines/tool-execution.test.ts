import { describe, expect, test } from 'vitest';
import { EXECUTION_STATUSES, isSettled } from '../../machines/execution-status.ts';
import { nextStatus } from '../../machines/open-calls.ts';

// By hand: what each event does in each status; · is refused.
const DRAWN = `
            amended started becameUnknown succeeded failed timedOut
  PENDING   PENDING RUNNING ·             SUCCESS   FAILED ·
  RUNNING   ·       RUNNING RUNNING       SUCCESS   FAILED TIMED_OUT
  TIMED_OUT ·       RUNNING ·             SUCCESS   FAILED ·
  SUCCESS   ·       ·       ·             ·         ·      ·
  FAILED    ·       ·       ·             ·         ·      ·
`;

const [events = [], ...rows] = DRAWN.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const cells = rows.flatMap(([status = '', ...targets]) =>
  events.map((event, column) => ({ status, event, target: targets[column] === '·' ? null : targets[column] })),
);

describe('the machine of a tool execution', () => {
  test('every status has its row', () => {
    expect(rows.map(([status]) => status).sort()).toEqual([...EXECUTION_STATUSES].sort());
  });

  test.each(cells)('$status on $event: $target', ({ status, event, target }) => {
    expect(nextStatus(status as never, { type: event } as never)).toBe(target);
  });

  test('an outcome, known or given up, has its answer for the model', () => {
    expect(EXECUTION_STATUSES.filter(isSettled)).toEqual(['SUCCESS', 'FAILED', 'TIMED_OUT']);
  });
});
