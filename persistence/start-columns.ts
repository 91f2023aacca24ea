import type { SessionEvent } from '../machines/session-event.ts';
import type { ExecutionProgress } from './row-changes.ts';

/** What the start of an attempt changes of params that were upgraded for it; nothing where they are those that were written. */
export function upgradeColumns(event: SessionEvent, executionId: string): Partial<ExecutionProgress> {
  if (event.type !== 'execution.started') return {};
  const upgrade = event.executions.find((started) => started.executionId === executionId)?.upgrade;
  if (upgrade === undefined) return {};
  const { toVersion: upgradedVersion, paramsDigest: upgradedDigest, content } = upgrade;
  return { upgradedVersion, upgradedDigest, upgradedParameters: content.params };
}

/** Why a call was held, where its event says so: it stands on the row until the call starts or is settled. */
export function heldColumns(event: SessionEvent, executionId: string): Partial<ExecutionProgress> {
  const error = event.type === 'execution.held' ? event.content?.[executionId]?.error : undefined;
  return error === undefined ? {} : { errorCode: error.code, errorMessage: error.message };
}
