import { markup } from '../html.ts';
import { locateSession } from '../locate-session.ts';
import { pageFrame } from '../page-frame.ts';
import { type Pages, showPage } from '../pages.ts';
import { stateBadge } from '../state-badge.ts';

/** The pages of one session. */
export function sessionPages(pages: Pages): void {
  pages.get('/sessions/:id', async (context) => {
    const { visit } = context.env;
    const overview = await locateSession(visit, context.req.param('id'));
    const main = markup`<div class="page-head"><h1>Session ${overview.sessionId}</h1>${stateBadge(overview.state)}</div>`;
    return showPage(context, pageFrame(visit, { title: `Session ${overview.sessionId}`, section: 'sessions', main }));
  });
}
