import { ERROR_CODES, type ErrorCode, isTurnlockError } from '../errors.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import type { EvidencedResult } from '../machines/session-event.ts';
import { isResting } from '../machines/session-state.ts';
import { tellParent } from '../persistence/child-evidence.ts';
import type { ParentCall } from '../persistence/committed-session.ts';
import { childRunId, childSessionId } from '../persistence/keys/child-ids.ts';
import { readMessageOfRun } from '../persistence/read-message-of-run.ts';
import { readRun, type StoredRunEnd } from '../persistence/read-run.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { storable } from './tool-output.ts';

type ChildEnd = Pick<EvidencedResult, 'outcome' | 'content'>;

/**
 * Looks whether the child of a call has ended, and if so tells the parent. Safe to repeat, from any process: the parent is told once. `false`
 * while the child is at work, waits for a person, or where nobody is to be told.
 */
export async function reportChild(store: Store, tenantId: string, call: ParentCall): Promise<boolean> {
  const end = await readChildEnd(store, tenantId, call.executionId);
  return end !== null && (await tellParent(store, tenantId, call, end));
}

/** How the run of a child ended; `null` while it has not. */
async function readChildEnd(store: Store, tenantId: string, executionId: string): Promise<ChildEnd | null> {
  const key = { tenantId, sessionId: childSessionId(executionId) };
  const runId = childRunId(executionId);
  const end = await readRun(store, key, runId);
  if (end !== null) return isResting(end.state) && end.state !== 'AWAITING_INPUT' ? toEnd(store, end) : null;
  const message = await readMessageOfRun(store, key, runId);
  if (message?.type === 'rejected') return failed(message.code, hintOf(message.code));
  if (message !== null) return null;
  return (await isThere(store, key)) ? null : failed('SESSION_NOT_FOUND', 'Its child session was deleted.');
}

function toEnd(store: Store, { state, event, code, reply, output, modelError }: StoredRunEnd): ChildEnd {
  if (event === 'run.cancelled') return failed('RUN_CANCELLED', 'The run of the agent was cancelled.');
  if (state === 'FAILED') return failed(code ?? 'MODEL_FAILED', modelError ?? hintOf(code ?? 'MODEL_FAILED'));
  return { outcome: 'succeeded', content: storable(store, output ?? reply ?? '') };
}

async function isThere(store: Store, key: { tenantId: string; sessionId: string }): Promise<boolean> {
  try {
    await readSession(store, key);
    return true;
  } catch (error) {
    return !isTurnlockError(error, 'SESSION_NOT_FOUND');
  }
}

function hintOf(code: string): string {
  return ERROR_CODES[code as ErrorCode]?.hint ?? code;
}

function failed(code: string, message: string): ChildEnd {
  const content: OutcomeContent = { error: { code, message: `${code}: ${message}` } };
  return { outcome: 'failed', content };
}
