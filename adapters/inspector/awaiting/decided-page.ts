import { TurnlockError } from '../../../errors.ts';
import { isResting } from '../../../machines/session-state.ts';
import { readExecution } from '../../../persistence/read-execution.ts';
import { readRounds, type StoredRound } from '../../../persistence/read-rounds.ts';
import { checkUuid } from '../../../persistence/values/check-uuid.ts';
import { type Html, markup, said, saidInLines } from '../html.ts';
import { locateSession } from '../locate-session.ts';
import { pageFrame } from '../page-frame.ts';
import { type PageContext, showPage } from '../pages.ts';
import { stateBadge } from '../state-badge.ts';
import { whenAt } from '../time-text.ts';
import { sessionLink } from '../visit.ts';

const DECISION_WORDS: Readonly<Record<NonNullable<StoredRound['decision']>, string>> = {
  granted: 'Approved',
  denied: 'Denied',
  answered: 'Answered',
  settled: 'Settled',
  expired: 'Nobody decided in time',
  superseded: 'A message of the user made it needless',
  cancelled: 'The run was cancelled',
};

/** What became of a call that a person was asked about, from its rows: the page may be loaded again at any time. */
export async function decidedPage(context: PageContext): Promise<Response> {
  const { visit } = context.env;
  const session = await locateSession(visit, context.req.param('session') ?? '');
  const executionId = checkUuid(context.req.param('execution'), 'executionId');
  const execution = await readExecution(visit.store, session, executionId);
  if (execution === null) throw notFound(executionId);
  const rounds = await readRounds(visit.store, session, executionId);
  const last = rounds.findLast(({ decision }) => decision !== null);
  const word = last?.decision == null ? 'Not decided yet' : DECISION_WORDS[last.decision];
  const now = new Date(visit.environment.now());
  const goesOn = isResting(session.state) ? null : markup`<p>The session goes on; this page follows it.</p>`;
  const main = markup`<div class="page-head"><div><p class="crumbs"><a href="${visit.link('/awaiting')}">Waiting for a person</a></p><h1>${word}: ${said(execution.toolName)}</h1></div></div>
<section class="card" id="decided" data-live="2" aria-label="What became of it"><div class="card-body">
  ${last === undefined ? markup`<p class="note">Nobody has decided about this call.</p>` : decisionNote(last, now)}
  <dl class="facts">
    <div><dt>Call</dt><dd>${callWords(execution)}</dd></div>
    <div><dt>Session</dt><dd>${stateBadge(session.state)}</dd></div>
    <div><dt>User</dt><dd>${said(session.userId)}</dd></div>
  </dl>
  ${goesOn}
  <ul class="cluster"><li><a class="button button-main" href="${sessionLink(visit, session)}">Open the session</a></li><li><a class="button" href="${visit.link('/awaiting')}">What else waits</a></li></ul>
</div></section>`;
  return showPage(context, pageFrame(visit, { title: `${word}: ${execution.toolName}`, section: 'awaiting', main }));
}

function decisionNote({ decision, decidedBy, decidedAt, reason }: StoredRound, now: Date): Html {
  const tone = decision === 'granted' || decision === 'answered' || decision === 'settled' ? 'note-good' : 'note-asks';
  return markup`<div class="note ${tone}" role="status"><p><strong>${decision === null ? '' : DECISION_WORDS[decision]}</strong>${decidedBy === null ? null : markup` by ${said(decidedBy)}`}${decidedAt === null ? null : markup`, ${whenAt(decidedAt, now)}`}</p>
  ${reason === null ? null : markup`<p>${saidInLines(reason)}</p>`}</div>`;
}

function callWords({
  status,
  attempt,
  unknownReason,
}: {
  status: string;
  attempt: number;
  unknownReason: string | null;
}): Html {
  const words: Readonly<Record<string, string>> = {
    PENDING: 'Waits to start',
    RUNNING: unknownReason === null ? `Running, attempt ${attempt}` : 'Outcome unknown',
    SUCCESS: 'Succeeded',
    FAILED: attempt === 0 ? 'Not run' : 'Failed',
    TIMED_OUT: 'Given up, outcome unknown',
  };
  return markup`${words[status] ?? status}`;
}

function notFound(executionId: string): TurnlockError {
  return new TurnlockError('EXECUTION_NOT_FOUND', { message: `execution not found: ${executionId}` });
}
