import { isTurnlockError, TurnlockError } from '../../errors.ts';
import { servicesOf } from '../../runtime/services-of.ts';
import type { FetchHandler } from '../http/identity.ts';
import { isOriginAllowed, isSentToLoopback } from '../http/loopback.ts';
import { assetAt } from './assets/assets.ts';
import { errorPage, refusedPage } from './error-page.ts';
import type { Html } from './html.ts';
import { checkInspectorOptions, checkViewer, type InspectorOptions } from './inspector-options.ts';
import { allPages } from './routes.ts';
import { secured } from './security-headers.ts';
import { SignIn, signInPage } from './sign-in.ts';
import { TenantDirectory } from './tenants.ts';
import type { Viewer } from './viewer.ts';
import { type Ground, linkUnder, type Visit } from './visit.ts';

/** An inspector on a database, with or without a runtime. @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function inspect(ground: Ground, options: InspectorOptions = {}): FetchHandler {
  const settings = checkInspectorOptions(options);
  const { basePath, onError } = settings;
  const link = linkUnder(basePath);
  const entrance = new Entrance(ground, settings);
  const tenants = new TenantDirectory(ground.store);
  const pages = allPages((request) => pathBelow(basePath, new URL(request.url).pathname));

  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const path = pathBelow(basePath, url.pathname);
    const asset = request.method === 'GET' || request.method === 'HEAD' ? assetAt(path) : null;
    if (asset !== null) return asset;
    const entered = await entrance.enter(request, { path, url, link });
    if (entered instanceof Response) return entered;
    const visit: Visit = {
      ...ground,
      ...entered,
      tenants,
      decides: settings.decide,
      path,
      query: url.searchParams,
      link,
    };
    try {
      return await pages.fetch(request, { visit });
    } catch (thrown) {
      const error = ofClosed(ground) ?? thrown;
      const { page, status } = errorPage(visit, error);
      if (status >= 500) onError(error);
      return htmlResponse(page, status);
    }
  };

  const handler = async (request: Request): Promise<Response> => {
    try {
      return secured(await answer(request));
    } catch (error) {
      onError(error);
      return secured(
        htmlResponse(refusedPage({ link }, 'Something went wrong', 'The log of the service says more.'), 500),
      );
    }
  };
  return Object.assign(handler, { authenticates: entrance.asks });
}

type Settings = ReturnType<typeof checkInspectorOptions>;

/** Decides who comes in. */
class Entrance {
  /** Whether everybody is asked who they are. */
  readonly asks: boolean;
  readonly #settings: Settings;
  readonly #signIn: SignIn | null;

  constructor({ environment }: Ground, settings: Settings) {
    this.#settings = settings;
    this.#signIn = settings.token === undefined ? null : new SignIn(settings.token, environment);
    this.asks = settings.authenticate !== undefined || this.#signIn !== null;
  }

  async enter(
    request: Request,
    { path, url, link }: { path: string; url: URL; link: Visit['link'] },
  ): Promise<Response | { viewer: Viewer; isSignedIn: boolean }> {
    const refuse = (status: number, title: string, says: string) =>
      htmlResponse(refusedPage({ link }, title, says), status);
    if (!this.asks && !isSentToLoopback(request))
      return refuse(403, 'Not let in', 'This inspector asks nobody who they are, so it is for this machine alone.');
    if (!isOriginAllowed(request))
      return refuse(403, 'Not accepted', 'This was sent from a page of another site. Nothing was done.');
    if (isDrawnInElsewhere(request))
      return refuse(403, 'Not accepted', 'A page of another site asked for this, to use it as part of itself.');
    const { authenticate, viewer, basePath } = this.#settings;
    if (this.#signIn !== null) return this.#bySignIn(this.#signIn, request, { path, url, link, basePath });
    if (authenticate === undefined) return { viewer, isSignedIn: false };
    const found = await authenticate(request);
    if (found === null) return refuse(401, 'Not let in', 'Sign in where this inspector is part of, then come back.');
    return { viewer: checkViewer(found), isSignedIn: false };
  }

  async #bySignIn(
    signIn: SignIn,
    request: Request,
    { path, url, link, basePath }: { path: string; url: URL; link: Visit['link']; basePath: string },
  ): Promise<Response | { viewer: Viewer; isSignedIn: boolean }> {
    const back = safeBack(url.searchParams.get('back'));
    if (path === '/sign-in' && request.method === 'POST') {
      const taken = await signIn.take(request, { basePath, back: link(back) }).catch(ofTooLong);
      return taken ?? htmlResponse(signInPage({ link }, { isWrong: true, back }), 403);
    }
    const shown = signIn.check(request);
    if (shown === null) {
      const wanted = request.method === 'GET' && path !== '/sign-in' ? path + url.search : back;
      return htmlResponse(signInPage({ link }, { isWrong: false, back: wanted }), 401);
    }
    if (path === '/sign-out' && request.method === 'POST') return signIn.end(request, { basePath, back: link('/') });
    return { viewer: this.#settings.viewer, isSignedIn: shown === 'cookie' };
  }
}

/**
 * Whether a page of another site asks for a page of ours as a picture, a script or data of its own. It could read none of it, but learn by the
 * time that it takes what a search finds, and make the database work. A link from elsewhere is followed.
 */
function isDrawnInElsewhere(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site === null || site === 'same-origin' || site === 'none') return false;
  return request.headers.get('sec-fetch-mode') !== 'navigate' || request.headers.get('sec-fetch-dest') !== 'document';
}

/** A closed runtime has closed its connections, so that whatever is read fails as if the database were away. */
function ofClosed({ runtime }: Ground): TurnlockError | null {
  if (runtime === null || !servicesOf(runtime).closing.aborted) return null;
  return new TurnlockError('RUNTIME_CLOSED', { message: 'runtime is closed' });
}

/** A form that is too long holds no token. */
function ofTooLong(error: unknown): null {
  if (isTurnlockError(error, 'VALUE_TOO_LARGE')) return null;
  throw error;
}

/** A path of the inspector to go back to: never the beginning of another address. */
function safeBack(back: string | null): string {
  return back !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(back) && !back.startsWith('/sign-') ? back : '/';
}

/** A server may have cut off the base path already. */
function pathBelow(basePath: string, path: string): string {
  if (path === basePath) return '/';
  return basePath !== '' && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

function htmlResponse(page: Html, status: number): Response {
  return new Response(page.toString(), { status, headers: { 'content-type': 'text/html; charset=UTF-8' } });
}
