import type { OpenCall } from '../../../machines/open-calls.ts';
import { snapshotDifferences, valueAt } from '../../../machines/snapshot-differences.ts';

/** Names of tools by the ids of their executions. */
export type CallNames = ReadonlyMap<string, { toolName: string }>;

/** One difference between two snapshots. `undefined`: it is not there. */
export interface Change {
  what: string;
  before: unknown;
  after: unknown;
}

const CALLS = '/context/calls';

/** What differs between two stored snapshots, in words: of each call its own properties. */
export function changesBetween(before: unknown, after: unknown, names: CallNames): Change[] {
  return snapshotDifferences(before, after).flatMap((path): Change[] => {
    if (path === CALLS) return callChanges(callsIn(before), callsIn(after), names);
    const what = path === '/value' ? 'state' : path.replace('/context', '').slice(1);
    return [{ what, before: valueAt(before, path), after: valueAt(after, path) }];
  });
}

/** The open calls of a stored snapshot, whatever stands in it. */
export function callsIn(snapshot: unknown): OpenCall[] {
  const calls = valueAt(snapshot, CALLS);
  return Array.isArray(calls) ? calls.filter((call) => typeof call?.executionId === 'string') : [];
}

function callChanges(before: readonly OpenCall[], after: readonly OpenCall[], names: CallNames): Change[] {
  const ids = [...new Set([...before, ...after].map(({ executionId }) => executionId))];
  return ids.flatMap((id): Change[] => {
    const [was, is] = [before, after].map((calls) => calls.find(({ executionId }) => executionId === id));
    const name = names.get(id)?.toolName ?? id;
    if (was === undefined || is === undefined) {
      return [{ what: `call ${name}`, before: summaryOf(was), after: summaryOf(is) }];
    }
    const properties = [...new Set([...Object.keys(was), ...Object.keys(is)])] as (keyof OpenCall)[];
    return properties
      .filter((property) => JSON.stringify(was[property]) !== JSON.stringify(is[property]))
      .map((property) => ({ what: `call ${name}: ${property}`, before: was[property], after: is[property] }));
  });
}

function summaryOf(call: OpenCall | undefined): unknown {
  if (call === undefined) return undefined;
  const { status, attempt, waitsFor } = call;
  return { status, attempt, ...(waitsFor === null ? {} : { waitsFor }) };
}
