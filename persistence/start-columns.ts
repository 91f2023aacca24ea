import type { AmendedContent, UpgradedParams } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import type { ExecutionIdentity, ExecutionProgress, ExecutionRow } from './row-changes.ts';

/** What the start of an attempt changes of params that were upgraded for it; nothing where they are those that were written. */
export function upgradeColumns(event: SessionEvent, executionId: string): Partial<ExecutionProgress> {
  if (event.type !== 'execution.started') return {};
  return upgraded(event.executions.find((started) => started.executionId === executionId)?.upgrade);
}

/** What the start of a call changes of its claim, where its business key is another one than when it was made. */
export function claimColumns(event: SessionEvent, executionId: string): Partial<ExecutionIdentity> {
  if (event.type !== 'execution.started') return {};
  const claim = event.executions.find((started) => started.executionId === executionId)?.content?.claim;
  return claim === undefined ? {} : { claimDigest: claim.digest, claimGeneration: claim.generation };
}

/** What a hold changes: why, where its event says so, which stands until the call starts or is settled; and the params it is about. */
export function heldColumns(event: SessionEvent, executionId: string): Partial<ExecutionProgress> {
  const held = event.type === 'execution.held' ? event.content?.[executionId] : undefined;
  if (held === undefined) return {};
  const { error, upgrade } = held;
  return { ...(error && { errorCode: error.code, errorMessage: error.message }), ...upgraded(upgrade) };
}

/** Params of a person's are of today's version of the tool: where the call is of an older one, they are its upgraded params too. */
export function amendedVersionColumns(
  { toolVersion, params, paramsDigest }: AmendedContent,
  row: Pick<ExecutionRow, 'toolVersion'>,
): Partial<ExecutionProgress> {
  return upgraded(
    toolVersion > row.toolVersion ? { toVersion: toolVersion, paramsDigest, content: { params } } : undefined,
  );
}

function upgraded(upgrade: UpgradedParams | undefined): Partial<ExecutionProgress> {
  if (upgrade === undefined) return {};
  const { toVersion: upgradedVersion, paramsDigest: upgradedDigest, content } = upgrade;
  return { upgradedVersion, upgradedDigest, upgradedParameters: content.params };
}
