import { seededRandom } from './seeded-random.ts';

/** When the next worker dies. */
export interface PlannedKill {
  /** After so many calls that were never begun before. */
  afterCalls: number;
  /** Milliseconds from the begin of the last of them. */
  delayMs: number;
  /** Whether the worker after it dies as well, so many milliseconds from its start: while it opens the database or recovers. */
  nextDiesAfterMs: number | null;
}

/** What the kills are drawn from. */
export interface KillPlanOptions {
  seed: number;
  /** Calls for each kill, on average. */
  killEvery: number;
  /** Milliseconds that a tool takes. */
  toolMs: number;
}

/** How long after a call's begin a kill that is not aimed comes at the latest. */
const MAX_DELAY_MS = 200;

/** How long after its start a worker that shall not live is killed at the latest. */
const MAX_LIFE_MS = 1_500;

/**
 * The kills of one rehearsal, drawn from the seed. Half of them are aimed at the first half of a tool's time; the others come at any
 * time soon after a call began, so that they meet commits, model calls and pauses as well; one in ten has a second kill follow it.
 *
 * Only calls that were never begun before count. So every kill needs a new one, and the rehearsal comes to its end whatever the seed.
 */
export function planKills({ seed, killEvery, toolMs }: KillPlanOptions): () => PlannedKill {
  const random = seededRandom(seed);
  let debt = 0;
  return () => {
    const isAimed = random.chance(0.5);
    const isDouble = random.chance(0.1);
    const afterCalls = debt + random.int(1, 2 * killEvery - 1);
    debt = isDouble ? killEvery : 0;
    return {
      afterCalls,
      delayMs: isAimed ? random.next() * (toolMs / 2) : random.next() * MAX_DELAY_MS,
      nextDiesAfterMs: isDouble ? random.next() * MAX_LIFE_MS : null,
    };
  };
}
