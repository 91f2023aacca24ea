import type { Context, Hono } from 'hono';
import type { Html } from './html.ts';
import type { Visit } from './visit.ts';

/** What every route of the inspector is given. */
export interface PageEnv {
  Bindings: { visit: Visit };
}

/** Where pages register themselves: `pages.get('/sessions/:id', (context) => showPage(context, …))`. */
export type Pages = Hono<PageEnv>;

/** One request to one page; `context.env.visit` says who looks at what. */
export type PageContext = Context<PageEnv>;

/** A page as a response. */
export function showPage(context: PageContext, page: Html, status: 200 | 400 | 403 | 404 | 409 | 422 = 200): Response {
  return context.html(page.toString(), status);
}

/** Goes on to a page of the inspector after something was sent: `href` is one that {@link Visit.link} made. */
export function goOnTo(context: PageContext, href: string): Response {
  return context.redirect(href, 303);
}
