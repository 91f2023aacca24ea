import type { UnknownReason } from '../machines/execution-status.ts';
import type { EvidencedResult } from '../machines/session-event.ts';
import type { ExecutionRow } from './row-changes.ts';

/** What is needed of an execution that was given up. */
type GivenUp = Pick<ExecutionRow, 'metadata'>;

/** The metadata of an execution that is given up while an attempt before its last one may have acted, and why that may be. */
export function withDoubt({ metadata }: GivenUp, doubt: UnknownReason): ExecutionRow['metadata'] {
  return { ...metadata, doubt };
}

/** Whether what is known by now of an execution that was given up still leaves it open whether it acted. What a person says does not. */
export function leavesDoubt({ metadata }: GivenUp, { outcome, by }: Pick<EvidencedResult, 'outcome' | 'by'>): boolean {
  return outcome === 'failed' && by === undefined && metadata.doubt !== undefined;
}
