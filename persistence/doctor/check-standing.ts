import type { Limits } from '../../limits.ts';
import { type OpenCall, waitsForPerson, waitsToRetry } from '../../machines/open-calls.ts';
import { isResting } from '../../machines/session-state.ts';
import { isLeaseLive } from '../lease.ts';
import { owedSince } from '../owed-since.ts';
import { isWithChild } from '../row-changes.ts';
import type { Standing, StandingCall } from '../standing.ts';
import type { Found } from './doctor-codes.ts';

/** What a standing is judged by. */
export interface Judging {
  limits: Limits;
  /** How long work may be owed with nobody at it, in milliseconds. */
  stuckAfterMs: number;
  /** Whether people are told of rounds by a hook, so that one that was not told is worth a word. */
  announces: boolean;
}

/** Leases that are so many times as long as this build's are too long. */
const LONG_LEASES = 10;

/** How many times `stuckAfterMs` a worker may be at one thing past its time. */
const AT_WORK_FACTOR = 5;

/** What of one session is not as it must be, from one reading of it. Pure. */
export function checkStanding(standing: Standing, judging: Judging): Found[] {
  const { snapshot, problem, version, stranded } = standing;
  const found = [
    ...checkAudit(standing),
    ...checkLease(standing, judging),
    ...checkOwed(standing, judging),
    ...checkEvidence(standing, judging),
  ];
  const newer = problem?.code === 'MACHINE_VERSION_UNSUPPORTED' ? 'machine' : stranded;
  if (newer !== null) {
    found.push({ code: 'STRANDED', place: null, found: `a newer ${newer}`, wanted: 'what this build knows' });
  } else if (problem !== null) {
    found.push({ code: 'QUARANTINED', place: `version ${version}`, found: problem.message, wanted: 'a snapshot' });
  }
  if (snapshot !== null) {
    const { calls, nextTurnIndex } = snapshot.context;
    found.push(
      ...checkTurnCount(standing, nextTurnIndex),
      ...checkCalls(standing, calls),
      ...checkRounds(standing, calls, judging),
      ...checkAtWork(standing, calls, judging),
    );
  }
  const { tenantId, sessionId } = standing;
  return found.map((one) => ({ ...one, tenantId, sessionId }));
}

function checkAudit({ version, state, token, transitions }: Standing): Found[] {
  const { count, lastSequence, lastState, lastToken } = transitions;
  const code = 'AUDIT_INCOMPLETE';
  if (count !== version || lastSequence !== version) {
    const found = `${count} transitions, the last of sequence ${lastSequence}`;
    return [{ code, place: null, found, wanted: `${version}` }];
  }
  if (version === 0) return [];
  const found: Found[] = [];
  const place = `transition ${version}`;
  if (lastState !== state) found.push({ code, place, found: `a session in ${state}`, wanted: lastState ?? '' });
  if (lastToken !== token) found.push({ code, place, found: `token ${token}`, wanted: `${lastToken}` });
  return found;
}

function checkLease({ state, leaseHolder, leaseExpiresAt, now }: Standing, { limits }: Judging): Found[] {
  if (leaseHolder === null || leaseExpiresAt === null) return [];
  const place = `holder ${leaseHolder}`;
  if (isResting(state)) return [{ code: 'LEASE_AT_REST', place, found: `a lease in ${state}`, wanted: 'none' }];
  const leftMs = leaseExpiresAt.getTime() - now.getTime();
  if (leftMs <= LONG_LEASES * limits.leaseMs) return [];
  const found = `a lease until ${leaseExpiresAt.toISOString()}`;
  return [{ code: 'LEASE_TOO_LONG', place, found, wanted: `${limits.leaseMs} ms or less` }];
}

function checkOwed(standing: Standing, { stuckAfterMs }: Judging): Found[] {
  const dueAt = owedSince(standing);
  const { now, state } = standing;
  if (dueAt === null || now.getTime() - dueAt.getTime() <= stuckAfterMs) return [];
  const found = `${state}, owed since ${dueAt.toISOString()}`;
  return [{ code: 'STUCK', place: null, found, wanted: `somebody at it within ${stuckAfterMs} ms` }];
}

/** What sets no wake is found by nobody once the session rests. */
function checkEvidence(
  { evidenceSince, state, wakeAt, leaseHolder, now }: Standing,
  { stuckAfterMs }: Judging,
): Found[] {
  if (evidenceSince === null || !isResting(state) || state === 'COMPLETED') return [];
  if (wakeAt !== null || leaseHolder !== null) return [];
  // What came for a call of an earlier turn waits until no call is open any more.
  if (state === 'AWAITING_INPUT' || now.getTime() - evidenceSince.getTime() <= stuckAfterMs) return [];
  const found = `evidence of ${evidenceSince.toISOString()} and no wake`;
  return [{ code: 'EVIDENCE_FORGOTTEN', place: null, found, wanted: 'a transition or a wake' }];
}

function checkTurnCount({ turns }: Standing, nextTurnIndex: number): Found[] {
  const last = turns.lastIndex === null ? 0 : turns.lastIndex + 1;
  if (turns.count === nextTurnIndex && last === nextTurnIndex) return [];
  const found = `${turns.count} turns, the last of index ${turns.lastIndex ?? 'none'}`;
  return [{ code: 'TURN_ORDER', place: null, found, wanted: `${nextTurnIndex} turns from index 0 on` }];
}

function checkCalls(standing: Standing, calls: readonly OpenCall[]): Found[] {
  const known = new Map(calls.map((call) => [call.executionId, call]));
  const orphans = standing.calls.filter(({ executionId }) => !known.has(executionId)).map(orphaned);
  const rows = new Map(standing.calls.map((row) => [row.executionId, row]));
  const differing = calls.flatMap((call) => compareCall(call, rows.get(call.executionId)));
  return [...orphans, ...differing];
}

function orphaned({ executionId, status, toolName }: StandingCall): Found {
  const place = `execution ${executionId}`;
  const found = `${status} of ${toolName}, which the session does not name`;
  return { code: 'EXECUTION_ORPHANED', executionId, place, found, wanted: 'a settled one' };
}

function compareCall(call: OpenCall, row: StandingCall | undefined): Found[] {
  const { executionId } = call;
  const place = `execution ${executionId}`;
  const wanted = progressOf(call);
  const found = row === undefined ? 'no row' : progressOf(row);
  if (found !== wanted) return [{ code: 'EXECUTION_MISMATCH', executionId, place, found, wanted }];
  if (row === undefined || !isWithChild(row) || row.hasChildSession) return [];
  return [{ code: 'CHILD_MISSING', executionId, place, found: 'no child session', wanted: 'one that answers it' }];
}

function progressOf({ status, attempt, unknownReason }: OpenCall | StandingCall): string {
  return `${status} at attempt ${attempt}${unknownReason === null ? '' : `, unknown by ${unknownReason}`}`;
}

function checkRounds(
  { rounds, now }: Standing,
  calls: readonly OpenCall[],
  { announces, stuckAfterMs }: Judging,
): Found[] {
  const waiting = new Map(calls.filter(waitsForPerson).map((call) => [call.executionId, call]));
  const asked = new Set(rounds.map(({ executionId }) => executionId));
  const missing = [...waiting].filter(([executionId]) => !asked.has(executionId));
  const untold = rounds.filter((round) => announces && !round.isAnnounced);
  return [
    ...missing.map(([executionId, call]): Found => {
      const place = `execution ${executionId}`;
      return { code: 'ROUND_MISSING', executionId, place, found: 'no open round', wanted: call.waitsFor ?? 'unknown' };
    }),
    ...rounds.flatMap(({ executionId, kind }): Found[] => {
      if ((waiting.get(executionId)?.waitsFor ?? (waiting.has(executionId) ? 'unknown' : null)) === kind) return [];
      const place = `execution ${executionId}`;
      return [{ code: 'ROUND_ORPHANED', executionId, place, found: `an open round: ${kind}`, wanted: 'none' }];
    }),
    ...untold.flatMap(({ executionId, requestedAt }): Found[] => {
      if (now.getTime() - requestedAt.getTime() <= stuckAfterMs) return [];
      const place = `execution ${executionId}`;
      const found = `asked ${requestedAt.toISOString()}, told to nobody`;
      return [{ code: 'UNANNOUNCED', executionId, place, found, wanted: 'told' }];
    }),
  ];
}

/** A worker that holds its session and is at one thing for far longer than that may take. */
function checkAtWork(standing: Standing, calls: readonly OpenCall[], { limits, stuckAfterMs }: Judging): Found[] {
  const { state, leaseHolder, leaseExpiresAt, updatedAt, wakeAt, now } = standing;
  if (leaseHolder === null || !isLeaseLive({ leaseExpiresAt }, now)) return [];
  const patienceMs = AT_WORK_FACTOR * stuckAfterMs;
  const place = `holder ${leaseHolder}`;
  const late = (since: Date, more: number) => now.getTime() > since.getTime() + more + patienceMs;
  if (state === 'PLANNING') {
    const since = wakeAt !== null && wakeAt > updatedAt ? wakeAt : updatedAt;
    if (!late(since, limits.modelTimeoutMs)) return [];
    const found = `a model call since ${since.toISOString()}`;
    return [{ code: 'STUCK_AT_WORK', place, found, wanted: `its end within ${limits.modelTimeoutMs} ms` }];
  }
  return standing.calls.flatMap((row): Found[] => {
    const { executionId, deadlineAt, status, unknownReason, toolName } = row;
    if (state !== 'EXECUTING_TOOL' || status !== 'RUNNING' || unknownReason !== null || deadlineAt === null) return [];
    const call = calls.find((one) => one.executionId === executionId);
    if (call === undefined || waitsToRetry(call) || !late(deadlineAt, limits.graceMs)) return [];
    const found = `${toolName} past its deadline ${deadlineAt.toISOString()}`;
    return [{ code: 'STUCK_AT_WORK', executionId, place, found, wanted: 'its end' }];
  });
}
