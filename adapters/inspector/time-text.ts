import { formatTime } from '../cli/format-time.ts';
import { type Html, markup } from './html.ts';

/** A moment: how long ago or how soon, with the exact time in UTC for who asks. */
export function when(time: Date, now: Date): Html {
  const words =
    time > now ? `in ${spanText(time.getTime() - now.getTime())}` : `${spanText(now.getTime() - time.getTime())} ago`;
  return markup`<time datetime="${time.toISOString()}" title="${formatTime(time)}">${words}</time>`;
}

/** As {@link when}, with the clock beside it for everybody: where a decision or a history hangs on it. */
export function whenAt(time: Date, now: Date): Html {
  return markup`${when(time, now)} <span class="clock">${formatTime(time)}</span>`;
}

/** A moment by the clock, in UTC. */
export function at(time: Date): Html {
  return markup`<time datetime="${time.toISOString()}">${formatTime(time)}</time>`;
}

const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** A length of time in its largest unit, as it is said in passing: `3 min`. */
export function spanText(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, 's'];
  return `${Math.floor(Math.max(0, ms) / size)} ${name}`;
}
