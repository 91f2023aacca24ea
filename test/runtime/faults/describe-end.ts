import type { Outside } from './outside.ts';

/** How an execution ended, and what its tool wrote into the database. */
export interface Ending {
  status: string;
  /** The keys of the rows of a transactional tool. */
  rows: readonly string[];
}

/**
 * What the outside world saw of one call, and how it ended, in the words of the page. `requests` are those of a receiver that may have had
 * more of them than it acted upon.
 */
export function describeEnd(
  { status, rows }: Ending,
  { outside, asked }: { outside: Pick<Outside, 'acts' | 'writes' | 'answers'>; asked: readonly string[] },
  requests = 0,
): string {
  const keys = [...outside.acts, ...rows];
  const acts = keys.length === 1 ? '1 act' : `${keys.length} acts`;
  const sameness = new Set(keys).size > 1 ? ', several keys' : keys.length > 1 ? ', same key' : '';
  return [
    ...outside.answers.slice(0, 1).map((answer) => `reconcile: ${answer}`),
    ...asked.map((answer) => `person: ${answer}`),
    ...(outside.writes > rows.length ? ['rolled back'] : []),
    ...(status === 'SUCCESS' ? [] : [status.toLowerCase()]),
    `${acts}${sameness}`,
    ...(requests > keys.length ? [requests === 2 ? 'asked twice' : `asked ${requests} times`] : []),
  ].join(', ');
}
