import { derivedUuid } from './derived-uuid.ts';

/*
 * What belongs to a child follows from the execution that it answers: whoever starts, looks for or cancels it names the same one, and a repeat
 * makes nothing new.
 */

/** The session that answers an execution. */
export function childSessionId(executionId: string): string {
  return derivedUuid('child', executionId);
}

/** The run of that session which does it. */
export function childRunId(executionId: string): string {
  return derivedUuid('childRun', executionId);
}

/** The evidence by which the parent learns how that run ended. */
export function childEvidenceId(executionId: string, attempt: number): string {
  return derivedUuid('childEvidence', executionId, attempt);
}
