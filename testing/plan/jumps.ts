const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

/**
 * How far the clock of a plan jumps, in milliseconds: a little; past a lease; past every deadline, and every lock; past noon; past the day for
 * which receivers remember keys; past every decision.
 */
export const JUMPS_MS = {
  little: 2 * SECOND_MS,
  lease: 20 * SECOND_MS,
  deadlines: 90 * SECOND_MS,
  noon: 7 * HOUR_MS,
  day: 25 * HOUR_MS,
  decisions: 40 * 24 * HOUR_MS,
};
