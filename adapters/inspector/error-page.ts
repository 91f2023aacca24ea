import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { problemOf } from '../http/problem.ts';
import { type Html, markup, said } from './html.ts';
import { bareFrame, pageFrame } from './page-frame.ts';
import type { Visit } from './visit.ts';

/** A page that says that something is not there or not allowed, and where to go on. */
interface Refusal {
  title: string;
  says: Html;
  hint?: Html;
  code?: string;
}

function refusal({ title, says, hint, code }: Refusal, back: string): Html {
  return markup`<section class="card empty" aria-labelledby="title">
  <h1 id="title">${title}</h1>
  <p>${says}</p>
  ${hint && markup`<p>${hint}</p>`}
  ${code && markup`<p class="small"><code>${code}</code></p>`}
  <p><a class="button" href="${back}">All sessions</a></p>
</section>`;
}

/** For an address that is none of ours. */
export function missingPage(visit: Visit): Html {
  const main = refusal({ title: 'Page not found', says: markup`There is no page at this address.` }, visit.link('/'));
  return pageFrame(visit, { title: 'Page not found', section: null, main });
}

/** What the person who looks can be told of an error, and the status that goes with it. */
export function errorPage(visit: Visit, error: unknown): { page: Html; status: number } {
  const shown = shownOf(error);
  const main = refusal(shown, visit.link('/'));
  return { page: pageFrame(visit, { title: shown.title, section: null, main }), status: shown.status };
}

function shownOf(error: unknown): Refusal & { status: number } {
  if (isTurnlockError(error, 'PRIVILEGE_MISSING')) return { ...ofError('Not allowed', error), status: 403 };
  if (isTurnlockError(error, 'RUNTIME_CLOSED')) return CLOSED;
  const { status, detail, hint, code } = problemOf(error);
  const title = TITLES[status] ?? (status >= 500 ? 'Something went wrong' : 'Not accepted');
  return { title, says: said(detail), hint: said(hint), code, status };
}

const CLOSED: Refusal & { status: number } = {
  title: 'The service has stopped',
  says: markup`What this inspector reads by was closed. Load the page again once the service has started anew.`,
  code: 'RUNTIME_CLOSED',
  status: 503,
};

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  409: 'It has changed meanwhile',
  503: 'The database does not answer',
};

function ofError(title: string, { message, hint, code }: TurnlockError): Refusal {
  return { title, says: said(message), hint: said(hint), code };
}

/** For a request that is not let in at all, so that nothing of the inspector is shown. */
export function refusedPage(visit: Pick<Visit, 'link'>, title: string, says: string): Html {
  return bareFrame(visit, {
    title,
    body: markup`<main id="main" tabindex="-1"><section class="card empty narrow"><h1>${title}</h1><p>${says}</p></section></main>`,
  });
}
