import type { AnsweredContent, Json } from '../machines/event-content.ts';
import type { ExecutionStatus } from '../machines/execution-status.ts';
import type { EvidencedResult } from '../machines/session-event.ts';
import { leavesDoubt } from './doubt-of-execution.ts';

/** What a tool turn needs of its execution. */
export interface SettledExecution {
  status: ExecutionStatus;
  outputPayload: Json | null;
  errorMessage: string | null;
  errorCode?: string | null;
  inputParameters?: Json;
  /** Of ours: `amendedBy` where a person changed the params, `answeredAs` where an earlier call answered. */
  metadata?: { [name: string]: Json };
}

/** How the model is told that an execution ended. */
export function outcomeOf(status: ExecutionStatus): 'succeeded' | 'failed' | 'unknown' {
  if (status === 'SUCCESS') return 'succeeded';
  return status === 'FAILED' ? 'failed' : 'unknown';
}

/**
 * The text of a tool turn. An output that is a string stands as it is, another one as JSON. An unknown outcome is told as unknown,
 * never as an error: the model must not conclude that nothing happened.
 */
export function outcomeText(execution: SettledExecution): string {
  const { metadata, inputParameters = null } = execution;
  if (metadata?.amendedBy === undefined) return plainText(execution);
  return `A person changed the params of this call to ${shownParams(inputParameters)}. ${plainText(execution)}`;
}

function plainText(execution: SettledExecution): string {
  switch (outcomeOf(execution.status)) {
    case 'succeeded':
      return answeredText(execution) + outputText(execution);
    case 'failed':
      if (NOT_RUN.includes(execution.errorCode ?? '')) return `The call was not run: ${execution.errorMessage}`;
      return `The call failed: ${execution.errorMessage ?? 'no reason was recorded'}`;
    default:
      return `The outcome of this call is unknown: it was started, and nothing says how it ended. It may have taken effect. Verify before you repeat it. ${execution.errorMessage ?? ''}`.trimEnd();
  }
}

/** Codes of calls that were not run because of what is known of an earlier one: no failure of the act. */
const NOT_RUN = ['CALL_NOT_REPEATED', 'CLAIM_HELD', 'CLAIM_OF_ANOTHER_USER'];

const ANSWERS: Record<AnsweredContent['as'], string> = {
  repeat: 'the same call has succeeded before',
  key: 'a call with the same business key has succeeded before',
  otherParams: 'a call with the same business key has succeeded before, with other params',
};

function outputText({ outputPayload }: SettledExecution): string {
  return typeof outputPayload === 'string' ? outputPayload : JSON.stringify(outputPayload);
}

/** A result of then must not be taken for one of now: the model would count the act twice. */
function answeredText({ metadata }: SettledExecution): string {
  if (metadata?.answeredAs === undefined) return '';
  return `Not run again: ${ANSWERS[metadata.answeredAs as AnsweredContent['as']]}. Its result: `;
}

/** Characters of a call's params that a notice repeats. */
const MAX_SHOWN_PARAMS = 500;

function shownParams(inputParameters: Json): string {
  const params = JSON.stringify(inputParameters);
  return params.length > MAX_SHOWN_PARAMS ? `${params.slice(0, MAX_SHOWN_PARAMS).toWellFormed()}…` : params;
}

/** What the notice of a late result needs of its execution. */
export interface LateExecution {
  toolName: string;
  inputParameters: Json;
  status: ExecutionStatus;
  metadata: { [name: string]: Json };
}

function stillUnknown(errorMessage: string | null): string {
  return `Its last attempt failed: ${errorMessage ?? 'no reason was recorded'}. An attempt before it may have taken effect, so the outcome is still unknown.`;
}

/** What the model is told of a result that came, or that a person found out, after its call had been answered. */
export function lateText(
  { toolName, inputParameters, status, metadata }: LateExecution,
  { outcome, content, by }: EvidencedResult,
): string {
  const isOpen = leavesDoubt({ metadata }, { outcome, by });
  const shown = shownParams(inputParameters);
  const told = outcomeOf(status) === 'unknown' ? 'whose outcome was told as unknown' : 'which was told as failed';
  const [outputPayload, errorMessage] = [content.output ?? null, content.error?.message ?? null];
  const ended = outcomeText({ status: outcome === 'succeeded' ? 'SUCCESS' : 'FAILED', outputPayload, errorMessage });
  const how =
    outcome === 'succeeded' ? `It succeeded. Its result: ${ended}` : isOpen ? stillUnknown(errorMessage) : ended;
  const source = by === undefined ? 'A late result of' : 'A person has found out about';
  return `${source} the earlier call of ${toolName} with ${shown}, ${told}. ${how}`;
}
