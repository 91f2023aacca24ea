import type { SeenAct } from './recorded-world.ts';

/** An act that the outside world did not see exactly as often as it was recorded. */
export interface ActDifference {
  /** Recording, tool and arguments, as JSON. */
  act: string;
  recorded: number;
  /** Idempotency keys that differ. */
  seen: number;
}

/** Every act whose count of distinct keys is not its count in the recordings. */
export function compareActs(recorded: ReadonlyMap<string, number>, seen: readonly SeenAct[]): ActDifference[] {
  const keys = new Map(seen.map(({ identity, distinctKeys }) => [identity, distinctKeys]));
  const acts = new Set([...recorded.keys(), ...keys.keys()]);
  return [...acts].flatMap((act) => {
    const pair = { recorded: recorded.get(act) ?? 0, seen: keys.get(act) ?? 0 };
    return pair.recorded === pair.seen ? [] : [{ act, ...pair }];
  });
}
