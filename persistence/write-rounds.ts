import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json } from '../machines/event-content.ts';
import type { OpenCall } from '../machines/open-calls.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { AgentApproval, type AgentApprovalRow } from './entities/agent-approval.entity.ts';
import { checkParams, presentParams } from './present-params.ts';
import { type OpenedRound, projectRounds } from './project-rounds.ts';
import type { SessionKey } from './read-session.ts';
import type { ExecutionRow } from './row-changes.ts';

/** What the rounds of one commit are made from. */
export interface RoundWriting {
  calls: readonly OpenCall[];
  event: SessionEvent;
  /** The executions after the event, new ones among them. */
  executions: readonly ExecutionRow[];
  now: Date;
  newId(): string;
}

/** What a commit did with the rounds of asking. */
export interface ChangedRounds {
  /** The earliest moment at which an open round of the session expires; `null` when none does. */
  expiresAt: Date | null;
  /** The rounds that it opened or changed. */
  rounds: AgentApprovalRow[];
}

/** Adds to `em` what `event` does with the rounds of asking. No statement is sent where nobody was or is asked. */
export async function changeRounds(em: EntityManager, key: SessionKey, writing: RoundWriting): Promise<ChangedRounds> {
  const { calls, event, now } = writing;
  const { opened, closed, withdrawn, started } = projectRounds(calls, event);
  const known = [
    ...opened.filter(({ isFirst }) => !isFirst).map(({ executionId }) => executionId),
    ...closed.map(({ executionId }) => executionId),
    ...withdrawn,
    ...started,
  ];
  const waiting = calls.filter(({ executionId, waitsFor }) => waitsFor !== null && !known.includes(executionId));
  const rounds = await readRounds(em, key, [...known, ...waiting.map(({ executionId }) => executionId)]);
  const latest = new Map(rounds.map((round) => [round.executionId, round]));
  const changed = new Set<AgentApprovalRow>();
  const change = (round: AgentApprovalRow, columns: Partial<AgentApprovalRow>) => {
    em.assign(round, columns as never);
    changed.add(round);
  };
  for (const { executionId, decision, by, roles, reason } of closed) {
    const round = latest.get(executionId);
    if (round === undefined || round.decision != null) continue;
    if (event.type === 'approval.granted') checkAsked(writing, round);
    // Only a person who puts other params in place decides about others than were asked about.
    const bound = (decision === 'granted' ? digestOf(writing, executionId) : undefined) ?? round.argsDigest;
    change(round, {
      decision,
      decidedBy: by,
      decidedRoles: roles,
      decidedAt: now,
      reason,
      argsDigest: bound,
    });
  }
  for (const executionId of withdrawn) {
    const round = latest.get(executionId);
    if (round?.decision === 'granted' && round.consumedAt == null) change(round, { decision: 'cancelled' });
  }
  for (const executionId of started) {
    const round = latest.get(executionId);
    if (round?.decision === 'granted') change(round, { consumedAt: now });
  }
  const created = opened.map((round) => openRound(em, key, writing, round, latest.get(round.executionId)));
  const open = [...rounds.filter(({ decision }) => decision == null), ...created];
  const expiresAt = earliest(open.map((round) => round.expiresAt ?? null));
  return { expiresAt, rounds: [...changed, ...created] };
}

async function readRounds(em: EntityManager, key: SessionKey, executionIds: string[]): Promise<AgentApprovalRow[]> {
  if (executionIds.length === 0) return [];
  return em.find(AgentApproval, { ...ownerOf(key), executionId: { $in: executionIds } }, { orderBy: { round: 'asc' } });
}

/** The rounds of asking about an execution, managed by `em`, the first one first. */
export function findRounds(em: EntityManager, key: SessionKey, executionId: string): Promise<AgentApprovalRow[]> {
  return readRounds(em, key, [executionId]);
}

/** The latest of them; `null` where nobody was asked. */
export async function findRound(
  em: EntityManager,
  key: SessionKey,
  executionId: string,
): Promise<AgentApprovalRow | null> {
  return (await findRounds(em, key, executionId)).at(-1) ?? null;
}

/** The open rounds of a session whose time is over. */
export async function findExpiredRounds(em: EntityManager, key: SessionKey, now: Date): Promise<AgentApprovalRow[]> {
  return em.find(AgentApproval, { ...ownerOf(key), decision: null, expiresAt: { $lte: now } });
}

function ownerOf({ tenantId, sessionId }: SessionKey) {
  return { tenantId, sessionId };
}

/** Digest of the params with which a call would run after the event. */
function digestOf({ executions }: RoundWriting, executionId: string): string | undefined {
  const row = executions.find((execution) => execution.executionId === executionId);
  return row === undefined ? undefined : presentParams(row).digest;
}

/** A grant is for the params that were asked about: the call has no others by now. */
function checkAsked({ executions }: RoundWriting, { executionId, argsDigest }: AgentApprovalRow): void {
  const row = executions.find((execution) => execution.executionId === executionId);
  if (row !== undefined) checkParams(row, argsDigest);
}

function openRound(
  em: EntityManager,
  key: SessionKey,
  writing: RoundWriting,
  { executionId, kind, asked, keepsApprovers }: OpenedRound,
  before: AgentApprovalRow | undefined,
): AgentApprovalRow {
  const { now, newId } = writing;
  const { question, expiresInMs, approvers, onExpiry, controls = null } = asked;
  const round = em.create(AgentApproval, {
    ...ownerOf(key),
    approvalId: newId(),
    executionId,
    round: (before?.round ?? 0) + 1,
    kind,
    argsDigest: digestOf(writing, executionId) ?? '',
    question,
    approvers: (keepsApprovers ? (before?.approvers ?? null) : approvers) as Json,
    requestedAt: now,
    expiresAt: expiresInMs === null ? null : new Date(now.getTime() + expiresInMs),
    onExpiry,
    controls,
  } as never) as AgentApprovalRow;
  em.persist(round);
  return round;
}

function earliest(times: (Date | null)[]): Date | null {
  const sorted = times.filter((time) => time !== null).sort((a, b) => a.getTime() - b.getTime());
  return sorted[0] ?? null;
}
