import { isTurnlockError } from '../../index.ts';
import type { Ids } from './tenant-world.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * What came of an attempt, as a caller sees it: the value, or code, category, message, hint and details of the error. The ids that were
 * asked for stand under their names; other ids, digests and times are left out, as they differ each time.
 */
export async function outcomeOf(ids: Ids, attempt: () => Promise<unknown>): Promise<string> {
  return withoutIds(ids, await shownBy(attempt));
}

async function shownBy(attempt: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: (await attempt()) ?? null };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { error: error.toJSON() };
  }
}

/** `value` as text in which no id is left by which two attempts would differ that are the same. */
export function withoutIds(ids: Ids, value: unknown): string {
  const names = Object.entries(ids).sort(([, a], [, b]) => b.length - a.length);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return names
    .reduce((left, [name, id]) => left.replaceAll(JSON.stringify(id).slice(1, -1), `<${name}>`), text)
    .replaceAll(UUID, '<uuid>')
    .replaceAll(/[0-9a-f]{64}/g, '<digest>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}
