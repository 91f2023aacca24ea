import { childSessionId } from '../../persistence/keys/child-ids.ts';
import { presentParams } from '../../persistence/present-params.ts';
import { hasChild } from '../../persistence/row-changes.ts';
import type { SessionRecord } from './session-record.ts';
import { settleCommands } from './settle-commands.ts';
import type { SharedOptions } from './shared-options.ts';

/** A session as `turnlock show --json` prints it: one document, its values as they are stored. */
export function showJson(record: SessionRecord, given: SharedOptions): object {
  const { turns, executions, transitions, turnsOf } = record;
  const turnIndexes = new Map(turns.map(({ turnId, turnIndex }) => [turnId, turnIndex]));
  return {
    session: sessionJson(record),
    waiting: waitingJson(record, given),
    turns: turns.map(({ turnId, callTurnId, tokenUsageJson, ...turn }) => ({ ...turn, tokenUsage: tokenUsageJson })),
    executions: executions.map((execution) => ({
      ...executionJson(execution),
      turnIndex: turnIndexes.get(execution.turnId) ?? null,
    })),
    transitions: transitions.map(({ type, event, ...transition }) => ({
      ...transition,
      event: event ?? { type },
      isErased: event === null,
      turnIndexes: turnsOf.get(transition.sequence) ?? [],
    })),
  };
}

function sessionJson({ overview }: SessionRecord): object {
  const { waiting, problem, now, leaseHolder, leaseExpiresAt, ...session } = overview;
  const lease =
    leaseHolder === null || leaseExpiresAt === null
      ? null
      : { holder: leaseHolder, expiresAt: leaseExpiresAt, isLive: leaseExpiresAt > now };
  return { ...session, lease, problem: problem?.toJSON() ?? null, readAt: now };
}

function waitingJson({ overview, executions }: SessionRecord, given: SharedOptions): object[] {
  return overview.waiting.flatMap(({ executionId, reason }) => {
    const execution = executions.find((row) => row.executionId === executionId);
    if (execution === undefined) return [];
    const { toolName, idempotencyKey } = execution;
    const { params, digest } = presentParams(execution);
    const commands = settleCommands({ ...overview, executionId, reason, digest }, given);
    return [{ executionId, toolName, reason, params, digest, idempotencyKey, commands }];
  });
}

function executionJson(execution: SessionRecord['executions'][number]): object {
  const { turnId, runId, ordinal, toolName, toolVersion, effect, status, attempt, idempotencyKey, ...rest } = execution;
  const { errorCode, errorMessage } = rest;
  return {
    executionId: rest.executionId,
    childSessionId: hasChild(execution) ? childSessionId(rest.executionId) : null,
    runId,
    ordinal,
    toolName,
    toolVersion,
    effect,
    status,
    attempt,
    idempotencyKey,
    params: rest.inputParameters,
    upgraded:
      rest.upgradedVersion === null
        ? null
        : { toolVersion: rest.upgradedVersion, params: rest.upgradedParameters, paramsDigest: rest.upgradedDigest },
    rawInput: rest.rawInput,
    providerCallId: rest.providerCallId,
    output: rest.outputPayload,
    error: errorCode === null && errorMessage === null ? null : { code: errorCode, message: errorMessage },
    unknownAt: rest.unknownAt,
    unknownReason: rest.unknownReason,
    startedAt: rest.startedAt,
    completedAt: rest.completedAt,
    deadlineAt: rest.deadlineAt,
    settledBy: rest.settledBy,
    copiedFrom: rest.metadata.copiedFrom ?? null,
    normalised: rest.normalised,
  };
}
