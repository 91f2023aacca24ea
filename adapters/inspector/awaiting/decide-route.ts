import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import type { Awaiting } from '../../../persistence/list-awaiting.ts';
import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { goOnTo, type PageContext, type Pages, showPage } from '../pages.ts';
import { readForm } from '../read-form.ts';
import type { Visit } from '../visit.ts';
import { askedCall } from './asked-call.ts';
import { decide, openQuestion } from './decide.ts';
import { decidedPage } from './decided-page.ts';
import { readDecision, type SentDecision } from './read-decision.ts';

/** Takes decisions, and shows what became of them. */
export function decideRoutes(pages: Pages): void {
  pages.post('/decide', (context) => takeDecision(context));
  pages.get('/decided/:session/:execution', (context) => decidedPage(context));
}

async function takeDecision(context: PageContext): Promise<Response> {
  const { visit } = context.env;
  if (!visit.decides) throw readOnly();
  const sent = readDecision(await readSent(context), visit.viewer);
  const asked = await openQuestion(visit, sent);
  // Sent twice, or decided by somebody else: the page of the call says by whom, and how.
  if (asked === null || asked.executionId !== sent.executionId || asked.sessionId !== sent.sessionId)
    return goOnTo(context, resultLink(visit, sent));
  try {
    await decide(visit, sent, asked);
  } catch (error) {
    if (isTurnlockError(error) && GONE.includes(error.code)) return goOnTo(context, resultLink(visit, sent));
    if (isTurnlockError(error) && CORRECTABLE.includes(error.code)) return askAgain(context, sent, error);
    throw error;
  }
  return goOnTo(context, resultLink(visit, sent));
}

/** Somebody was first, or time was; a call that runs is one that was asked to run again already. */
const GONE: readonly string[] = [
  ...['APPROVAL_DECIDED', 'APPROVAL_EXPIRED', 'APPROVAL_NOT_ASKED', 'EXECUTION_SETTLED', 'EXECUTION_RUNNING'],
];

/** What the person can do better, with the question before the eyes as it is now. */
const CORRECTABLE: readonly string[] = [
  ...['APPROVAL_STALE', 'PARAMS_INVALID', 'PARAMS_CHANGED', 'POLICY_DENIED', 'POLICY_FAILED', 'KEY_CONFLICT'],
  ...[
    'APPROVER_NOT_ALLOWED',
    'OUTCOME_INVALID',
    'VALUE_INVALID',
    'VALUE_TOO_LARGE',
    'OPTIONS_INVALID',
    'CONFIG_INVALID',
  ],
];

async function askAgain(context: PageContext, sent: SentDecision, error: TurnlockError): Promise<Response> {
  const { visit } = context.env;
  const asked = await openQuestion(visit, sent);
  if (asked === null) return goOnTo(context, resultLink(visit, sent));
  const title = error.code === 'APPROVAL_STALE' ? 'It has changed since you looked' : 'Not decided';
  const main = markup`<div class="page-head"><div><p class="crumbs"><a href="${visit.link('/awaiting')}">Waiting for a person</a></p><h1>${title}</h1></div></div>
${whatHappened(error)}
<section class="card" aria-labelledby="now"><div class="card-head"><h2 id="now">The question as it is now</h2></div>${askedCall(visit, asked, { isWhole: true })}</section>`;
  const status = error.code === 'APPROVAL_STALE' ? 409 : error.code === 'APPROVER_NOT_ALLOWED' ? 403 : 422;
  return showPage(context, pageFrame(visit, { title, section: 'awaiting', main }), status);
}

function whatHappened({ code, message, hint }: TurnlockError): Html {
  const says =
    code === 'APPROVAL_STALE'
      ? markup`<strong>Nothing was decided.</strong><p>The params of the call are others now than those on your page. Below they are as they are now: look at them, then decide.</p>`
      : markup`<strong>Nothing was decided.</strong><p>${said(message)}</p><p>${said(hint)}</p>`;
  return markup`<div class="note note-bad" role="alert">${says}<p class="small"><code>${code}</code></p></div>`;
}

/** The page that says what became of a call. */
export function resultLink(
  visit: Visit,
  { tenantId, sessionId, executionId }: Pick<Awaiting, 'tenantId' | 'sessionId' | 'executionId'>,
): string {
  return visit.link(`/decided/${sessionId}/${executionId}`, {
    tenant: visit.viewer.tenantId === null ? tenantId : null,
  });
}

/** The form of a request, up to what an output may need once it is encoded. */
async function readSent({ req, env }: PageContext): Promise<URLSearchParams> {
  const { maxOutputBytes, maxErrorBytes } = env.visit.store.limits;
  const bound = 3 * (maxOutputBytes + maxErrorBytes) + 16_384;
  if (req.header('content-type')?.split(';')[0]?.trim() !== 'application/x-www-form-urlencoded') {
    throw new TurnlockError('OPTIONS_INVALID', { message: 'form not accepted (wanted a form of this page)' });
  }
  return readForm(req.raw, bound);
}

function readOnly(): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: 'nothing is decided here: this inspector is read only',
    hint: 'Start it with decisions allowed, or decide by the command line.',
  });
}
