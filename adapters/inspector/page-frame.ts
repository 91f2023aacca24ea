import { assetPath } from './assets/assets.ts';
import { type Html, inAttribute, markup, said } from './html.ts';
import type { Visit } from './visit.ts';

/** What every page says of itself. */
export interface PageContent {
  /** Of the browser's tab: what tells this page from others comes first. */
  title: string;
  /** The entry of the navigation that is this page's, or the one above it. */
  section: Section | null;
  main: Html;
  /** What stays in sight while somebody scrolls: in the bar, or above the end of a narrow window. */
  inSight?: Html;
}

/** The pages that the navigation names. */
export type Section = 'sessions' | 'awaiting' | 'doctor' | 'controls';

/** `isOfTenant`: about a whole tenant, so not for a viewer of one user's sessions. */
const SECTIONS: readonly { section: Section; path: string; text: string; isOfTenant?: boolean }[] = [
  { section: 'sessions', path: '/', text: 'Sessions' },
  { section: 'awaiting', path: '/awaiting', text: 'Waiting' },
  { section: 'doctor', path: '/doctor', text: 'Doctor', isOfTenant: true },
  { section: 'controls', path: '/controls', text: 'Controls', isOfTenant: true },
];

/** A whole page: head, skip link, navigation, `main`, and who looks. */
export function pageFrame(visit: Visit, { title, section, main, inSight }: PageContent): Html {
  return bareFrame(visit, {
    title,
    body: markup`<header class="bar">
  <div class="bar-inner">
    <a class="brand" href="${visit.link('/')}"><svg class="brand-mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M7 10V7a5 5 0 0 1 10 0v3"/><rect x="4" y="10" width="16" height="11" rx="2.5"/><path d="M9.5 15.5l2 2 3.5-4"/></svg><span>Turnlock</span></a>
    <nav aria-label="Pages"><ul class="nav">${SECTIONS.filter(({ isOfTenant }) => !isOfTenant || visit.viewer.userId == null).map((one) => entry(visit, one, section))}</ul></nav>
    ${inSight}${whoLooks(visit)}
  </div>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<footer class="foot">
  <p>${visit.decides ? 'Decisions are taken here.' : 'Read only.'} Times are UTC. <button type="button" class="link" id="live-toggle" aria-pressed="false" hidden>Pause updates</button></p>
</footer>`,
  });
}

/** A page without navigation, for who is not let in yet. */
export function bareFrame(visit: Pick<Visit, 'link'>, { title, body }: { title: string; body: Html }): Html {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${inAttribute(title)} · Turnlock</title>
<link rel="stylesheet" href="${visit.link(assetPath('inspector.css'))}">
<link rel="icon" type="image/svg+xml" href="${visit.link(assetPath('icon.svg'))}">
<script src="${visit.link(assetPath('live.js'))}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${body}
</body>
</html>`;
}

function entry(visit: Visit, { section, path, text }: (typeof SECTIONS)[number], current: Section | null): Html {
  return section === current
    ? markup`<li><a href="${visit.link(path)}" aria-current="page">${text}</a></li>`
    : markup`<li><a href="${visit.link(path)}">${text}</a></li>`;
}

function whoLooks({ viewer, isSignedIn, link }: Visit): Html {
  const tenant = viewer.tenantId === null ? 'all tenants' : said(viewer.tenantId);
  const end = isSignedIn
    ? markup`<form method="post" action="${link('/sign-out')}"><button type="submit" class="link">Sign out</button></form>`
    : null;
  return markup`<div class="who"><span class="who-by">${said(viewer.by)}</span><span class="who-tenant">${tenant}</span>${end}</div>`;
}
