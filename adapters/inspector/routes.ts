import { Hono } from 'hono';
import { awaitingPages } from './awaiting/awaiting-pages.ts';
import { controlsPages } from './controls/controls-page.ts';
import { doctorPages } from './doctor/doctor-pages.ts';
import { missingPage } from './error-page.ts';
import { listPages } from './lists/list-pages.ts';
import { type PageEnv, type Pages, showPage } from './pages.ts';
import { sessionPages } from './session-page/session-pages.ts';

/** Every page of the inspector, each part of which registers its own. `pathOf`: what was asked for, below the base path. */
export function allPages(pathOf: (request: Request) => string): Pages {
  const pages: Pages = new Hono<PageEnv>({ getPath: pathOf });
  listPages(pages);
  awaitingPages(pages);
  sessionPages(pages);
  doctorPages(pages);
  controlsPages(pages);
  pages.notFound((context) => showPage(context, missingPage(context.env.visit), 404));
  pages.onError((error) => {
    throw error; // the inspector answers it, as it does for what goes wrong before a page is found
  });
  return pages;
}
