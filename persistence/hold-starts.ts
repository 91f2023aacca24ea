import type { EntityManager } from '@mikro-orm/postgresql';
import type { Approvers, AskedContent, TokenUsage } from '../machines/event-content.ts';
import type { EventOf, PlannedCall, SessionEvent } from '../machines/session-event.ts';
import { tokensOf } from '../machines/tokens-of.ts';
import { askInstead, withReason } from './ask-instead.ts';
import type { Claiming } from './claims.ts';
import type { AgentApprovalRow } from './entities/agent-approval.entity.ts';
import { AgentToolExecution } from './entities/agent-tool-execution.entity.ts';
import { holdsOf, type Start } from './holds-of.ts';
import type { SessionKey } from './read-session.ts';
import { findRound } from './write-rounds.ts';

type Beginning = EventOf<'execution.started'> | EventOf<'execution.held'>;

/** The calls of a plan: what is frozen or over budget waits for a person, whose question says why. */
export async function holdCalls(
  em: EntityManager,
  claiming: Claiming,
  calls: PlannedCall[],
  usage: TokenUsage,
): Promise<PlannedCall[]> {
  const starts = calls
    .filter(({ verdict, waitsFor }) => verdict !== 'settled' && waitsFor !== 'answer')
    .map(({ executionId, content: { toolName, costMicroMoney = 0 } }) => ({
      executionId,
      toolName,
      cost: costMicroMoney,
    }));
  const holds = await holdsOf(em, claiming, starts, tokensOf(usage));
  if (holds.size === 0) return calls;
  return calls.map((call) => {
    const hold = holds.get(call.executionId);
    return hold === undefined ? call : askInstead(call, hold.reason, hold.controls);
  });
}

/**
 * Starts of calls that had to wait: what is frozen or over budget by now is held for a person, unless one has granted it in answer to a
 * question that named that very freeze or budget. Further attempts of calls that have begun are not held.
 */
export async function holdStarts(em: EntityManager, claiming: Claiming, event: SessionEvent): Promise<SessionEvent> {
  if (event.type !== 'execution.started' && event.type !== 'execution.held') return event;
  const holds = await holdsOf(em, claiming, await readStarts(em, claiming, event), 0);
  const content: { [executionId: string]: AskedContent } = {};
  for (const [executionId, { reason, controls }] of holds) {
    const round = await findRound(em, claiming, executionId);
    if (event.type === 'execution.started' && isGranted(round, controls)) continue;
    const asked = event.type === 'execution.held' ? event.content?.[executionId] : askedBefore(round);
    content[executionId] = withReason(asked, reason, controls);
  }
  if (event.type === 'execution.held') return { ...event, content: { ...event.content, ...content } };
  const executionIds = Object.keys(content);
  return executionIds.length === 0 ? event : { type: 'execution.held', executionIds, content };
}

async function readStarts(em: EntityManager, { tenantId, sessionId }: SessionKey, event: Beginning): Promise<Start[]> {
  const ids =
    event.type === 'execution.held'
      ? event.executionIds
      : event.executions.filter(({ attempt }) => attempt === 1).map(({ executionId }) => executionId);
  if (ids.length === 0) return [];
  const rows = await em.find(AgentToolExecution, { executionId: { $in: ids }, tenantId, sessionId });
  return ids.flatMap((executionId) => {
    const row = rows.find((one) => one.executionId === executionId);
    return row === undefined ? [] : [{ executionId, toolName: row.toolName, cost: row.costMicroMoney ?? 0 }];
  });
}

function isGranted(round: AgentApprovalRow | null, controls: string[]): boolean {
  if (round?.decision !== 'granted' || round.consumedAt != null) return false;
  return controls.every((control) => (round.controls ?? []).includes(control));
}

/** What was asked in the round before, where it was granted: it holds in the next one too, its approvers above all. */
export function askedBefore(round: AgentApprovalRow | null): AskedContent | undefined {
  if (round?.decision !== 'granted' || round.kind !== 'approval') return undefined;
  const { question = null, expiresAt, requestedAt, onExpiry, approvers } = round;
  const expiresInMs = expiresAt == null ? null : expiresAt.getTime() - requestedAt.getTime();
  return { question, expiresInMs, approvers: (approvers ?? null) as Approvers | null, onExpiry };
}
