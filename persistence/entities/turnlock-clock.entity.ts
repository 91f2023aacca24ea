import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** The offset of the one clock, in milliseconds. Only the testing role may move it. */
export const TurnlockClock = defineEntity({
  name: 'TurnlockClock',
  tableName: 'turnlock_clock',
  schema: 'turnlock',
  checks: [{ name: 'check_clock_single', expression: 'clock_id = 1' }],
  properties: {
    clockId: p.smallint().primary().autoincrement(false).default(1),
    offsetMs: p.bigint('number').defaultRaw('0'),
  },
});

/** The row of `turnlock_clock`. */
export type TurnlockClockRow = InferEntity<typeof TurnlockClock>;
