import { isTurnlockError } from '../errors.ts';
import { pendingEffects } from '../machines/pending-effects.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { HistoryTurn } from '../persistence/read-history.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import { isWithChild } from '../persistence/row-changes.ts';
import { letSleep } from '../persistence/sleeping-parent.ts';
import { callModel } from './call-model.ts';
import { reportChild } from './child-end.ts';
import { RunContext } from './context/run-context.ts';
import { commitAsHolder, type DriveContext, databaseNow } from './drive-context.ts';
import { toModelTurns } from './model-turns.ts';
import { isInterrupt, noteMessage, runCancelled } from './note-message.ts';
import { ToolRunner } from './run-tools.ts';
import { spentInRun } from './spent-in-run.ts';

/**
 * Does what a session owes until it rests: commit, then the effects of the committed snapshot, then the commit of what came of them.
 *
 * Returns the last commit when the session rests, or sleeps until its children wake it; `null` when the drive was aborted or drained first. The history is read once and
 * then grows with our own commits, so a run costs the same however long the session is; it is read again only when others committed.
 */
export async function driveSession(drive: DriveContext, begin: CommitResult): Promise<CommitResult | null> {
  const tools = new ToolRunner(drive);
  const context = new RunContext(drive);
  let last = begin;
  let turns: HistoryTurn[] | null = null;
  try {
    while (!drive.signal.aborted) {
      const effects = pendingEffects(last.session.snapshot, last.executions);
      const [first] = effects;
      if (first === undefined) {
        const { state } = last.session;
        if (turns !== null && state !== 'COMPLETED') context.noteDue(toModelTurns(turns), state === 'IDLE');
        return last;
      }
      let next: CommitResult | null;
      try {
        if (last.news > 0) {
          next = (await noteMessage(drive)) ?? { ...last, news: 0 };
        } else if (last.evidence > 0) {
          next = await takeEvidence(drive, last);
        } else if (first.type === 'callModel') {
          turns ??= await context.read(first.runId);
          next = await planNext(drive, { tools, context }, last, turns, first);
        } else {
          const came = await tools.step(last, effects as Parameters<ToolRunner['step']>[1]);
          if (came === 'sleeps' && (await fallAsleep(drive, last))) return last;
          next = came === 'sleeps' ? { ...last, news: 1, evidence: 1 } : came;
        }
      } catch (error) {
        next = await afterOthers(drive, last, error);
      }
      if (next === null) return null;
      if (isInterrupt(next)) {
        drive.stop(runCancelled(next.session.sessionId));
        return next;
      }
      const isOurs = !next.repeated && next.session.version === last.session.version + 1;
      if (isOurs) turns?.push(...next.turns);
      else turns = null;
      last = next;
    }
    return null;
  } finally {
    await tools.settled();
  }
}

/**
 * Gives the session up until a child wakes it: a parent that only waits holds no lease and no worker. Before that it looks at the children
 * itself, since the process that had one may have died before it told how it ended. `false` when there is something to take by now.
 */
async function fallAsleep(
  { store, session, holder, token }: DriveContext,
  { executions }: CommitResult,
): Promise<boolean> {
  const { tenantId, sessionId } = session;
  for (const { executionId } of executions.filter(isWithChild)) {
    await reportChild(store, tenantId, { sessionId, executionId });
  }
  return letSleep(store, session, { tenantId, sessionId, holder, token });
}

/** Takes what is known by evidence, before anything is asked or begun. Evidence that does not fit now is left for later. */
async function takeEvidence(drive: DriveContext, last: CommitResult): Promise<CommitResult> {
  return commitAsHolder(drive, { type: 'takeEvidence' }).catch((error: unknown) => {
    if (isTurnlockError(error, 'EVENT_ILLEGAL')) return { ...last, evidence: 0 };
    throw error;
  });
}

/**
 * The session as others left it who need no lease: a person may settle a call in the moment before its worker starts it, and then
 * the start does not fit any more. The drive goes on from there. What was refused without such a commit is an error.
 */
async function afterOthers(drive: DriveContext, last: CommitResult, error: unknown): Promise<CommitResult | null> {
  if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
  const { store, environment, limits, token } = drive;
  const fresh = await readSession(store, drive.session, { isLocked: true, patienceMs: limits.leaseMs });
  if (fresh.session.token !== token) return null;
  if (fresh.session.version === last.session.version) throw error;
  drive.clock = { databaseMs: fresh.now.getTime(), monotonicMs: environment.monotonic() };
  return { ...last, ...fresh, repeated: true, turns: [] };
}

async function planNext(
  drive: DriveContext,
  { tools, context }: { tools: ToolRunner; context: RunContext },
  last: CommitResult,
  turns: HistoryTurn[],
  call: { runId: string; attempt: number },
): Promise<CommitResult | null> {
  // Waiting and asking a model end with the drive and with the runtime alike: both can be done again elsewhere.
  const asking = { ...drive, signal: AbortSignal.any([drive.signal, drive.draining]) };
  const { wakeAt } = last.session;
  if (wakeAt !== null) {
    const waitMs = Math.max(0, wakeAt.getTime() - databaseNow(drive));
    await drive.environment.sleep(waitMs, asking.signal).catch(() => undefined);
  }
  if (asking.signal.aborted) return null;
  const { runId, attempt } = call;
  const spent = spentInRun(turns, runId);
  const shown = toModelTurns(turns);
  context.noteDue(shown, false);
  await context.recall(shown, asking.signal);
  if (asking.signal.aborted) return null;
  const event = await callModel(asking, { turns: shown, context }, { runId, attempt, spent });
  if (event === null) return null;
  tools.noteStarts(event);
  return commitAsHolder(drive, event);
}
