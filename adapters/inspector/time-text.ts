import { formatTime, formatWhen } from '../cli/format-time.ts';
import { type Html, markup } from './html.ts';

/** A moment: how long ago or how soon, with the exact time in UTC for who asks. */
export function when(time: Date, now: Date): Html {
  return markup`<time datetime="${time.toISOString()}" title="${formatTime(time)}">${formatWhen(time, now)}</time>`;
}

/** A moment by the clock, in UTC. */
export function at(time: Date): Html {
  return markup`<time datetime="${time.toISOString()}">${formatTime(time)}</time>`;
}
