import { markup } from '../html.ts';
import { locateSession } from '../locate-session.ts';
import { type Pages, showPage } from '../pages.ts';
import { followStream, readSequence } from './follow-stream.ts';
import { momentPage } from './moment-page.ts';
import { sessionPage, sessionUpdate } from './session-page.ts';
import { verifyPage } from './verify-page.ts';

/** The pages of one session. */
export function sessionPages(pages: Pages): void {
  pages.get('/sessions/:id', async (context) => {
    const { visit } = context.env;
    return showPage(context, await sessionPage(visit, await locateSession(visit, context.req.param('id'))));
  });
  pages.get('/sessions/:id/at/:sequence', async (context) => {
    const { visit } = context.env;
    const overview = await locateSession(visit, context.req.param('id'));
    const page = await momentPage(visit, overview, readSequence(context.req.param('sequence')));
    return page === null ? context.notFound() : showPage(context, page);
  });
  pages.get('/sessions/:id/verify', async (context) => {
    const { visit } = context.env;
    return showPage(context, await verifyPage(visit, await locateSession(visit, context.req.param('id'))));
  });
  pages.get('/sessions/:id/entries', async (context) => {
    const { visit } = context.env;
    const overview = await locateSession(visit, context.req.param('id'));
    const after = readSequence(visit.query.get('after')) ?? 0;
    return showPage(context, markup`${await sessionUpdate(visit, overview, after)}`);
  });
  pages.get('/sessions/:id/events', async (context) => {
    const overview = await locateSession(context.env.visit, context.req.param('id'));
    return followStream(context, overview);
  });
}
