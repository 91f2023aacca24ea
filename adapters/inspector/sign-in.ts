import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../../environment.ts';
import { type Html, markup } from './html.ts';
import { bareFrame } from './page-frame.ts';
import { readForm } from './read-form.ts';
import type { Visit } from './visit.ts';

/** How long a sign-in holds. */
const SIGNED_IN_MS = 12 * 60 * 60 * 1_000;

const COOKIE = 'turnlock-inspector';

/** The longest form that is read: who sends it is not known yet. */
const MAX_FORM_BYTES = 4_096;

/**
 * Lets in whoever has the token. The cookie holds no token but until when it lets in, and a code of that by the token: another token ends
 * every sign-in, and every process with the same one takes it.
 */
export class SignIn {
  readonly #token: string;
  readonly #environment: Environment;

  constructor(token: string, environment: Environment) {
    this.#token = token;
    this.#environment = environment;
  }

  /** How a request shows that it may come in: by the header, by the cookie, or not. */
  check(request: Request): 'bearer' | 'cookie' | null {
    const bearer = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    if (bearer !== undefined) return isSame(bearer, this.#token) ? 'bearer' : null;
    const cookie = cookieOf(request);
    return cookie !== null && this.#isGood(cookie) ? 'cookie' : null;
  }

  /** Takes the form: a redirect with the cookie, or `null` where the token is another one. */
  async take(request: Request, { basePath, back }: { basePath: string; back: string }): Promise<Response | null> {
    const form = await readForm(request, MAX_FORM_BYTES);
    if (!isSame(form.get('token') ?? '', this.#token)) return null;
    const until = String(this.#environment.now() + SIGNED_IN_MS);
    const value = `${until}.${this.#code(until)}`;
    return redirect(back, cookieText(request, basePath, value, SIGNED_IN_MS / 1_000));
  }

  /** Ends the sign-in of this browser. */
  end(request: Request, { basePath, back }: { basePath: string; back: string }): Response {
    return redirect(back, cookieText(request, basePath, '', 0));
  }

  #isGood(cookie: string): boolean {
    const [until = '', code = ''] = cookie.split('.');
    return /^\d{13,15}$/.test(until) && isSame(code, this.#code(until)) && Number(until) > this.#environment.now();
  }

  #code(until: string): string {
    return createHmac('sha256', this.#token).update(`turnlock inspector until ${until}`).digest('base64url');
  }
}

/** The page that asks for the token. */
export function signInPage(visit: Pick<Visit, 'link'>, { isWrong, back }: { isWrong: boolean; back: string }): Html {
  const wrong = isWrong ? markup`<p class="note note-bad" id="wrong" role="alert">That is not the token.</p>` : null;
  return bareFrame(visit, {
    title: 'Sign in',
    body: markup`<main id="main" tabindex="-1"><section class="card narrow"><div class="card-body">
  <h1>Sign in</h1>
  ${wrong}
  <form class="stack" method="post" action="${visit.link('/sign-in', { back })}">
    <label class="label" for="token">Token of this inspector
      <input class="field" id="token" name="token" type="password" required autocomplete="current-password" autofocus${isWrong ? markup` aria-invalid="true" aria-describedby="wrong"` : null}>
    </label>
    <button class="button button-main" type="submit">Sign in</button>
  </form>
</div></section></main>`,
  });
}

/** Compares digests, so that neither length nor content shows in the time that it takes. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function cookieOf(request: Request): string | null {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? null;
}

function cookieText(request: Request, basePath: string, value: string, seconds: number): string {
  const isEncrypted =
    new URL(request.url).protocol === 'https:' || request.headers.get('x-forwarded-proto') === 'https';
  const end = isEncrypted ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=${basePath || '/'}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${end}`;
}

function redirect(location: string, cookie: string): Response {
  return new Response(null, { status: 303, headers: { location, 'set-cookie': cookie } });
}
