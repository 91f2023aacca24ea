const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** `2026-11-29 17:20:13.250Z`: UTC, sortable, with the milliseconds that rows have. */
export function formatTime(time: Date): string {
  return time.toISOString().replace('T', ' ');
}

/** The time of day in UTC: `17:20:13.250`. */
export function formatClock(time: Date): string {
  return time.toISOString().slice(11, 23);
}

/** A length of time in its two largest units: `2 min 5 s`. Less than a second is `0 s`. */
export function formatDuration(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, ms);
  for (const [size, name] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    if (parts.length > 0 && (parts.length === 2 || count === 0)) break;
  }
  return parts.join(' ') || '0 s';
}

/** How long ago `time` was. */
export function formatAge(time: Date, now: Date): string {
  return formatDuration(now.getTime() - time.getTime());
}

/** `3 min ago`, `in 5 s`. */
export function formatWhen(time: Date, now: Date): string {
  return time > now ? `in ${formatAge(now, time)}` : `${formatAge(time, now)} ago`;
}
