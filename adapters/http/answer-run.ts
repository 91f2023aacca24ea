import { isTurnlockError } from '../../errors.ts';
import type { Run } from '../../runtime/run.ts';
import type { RunResult } from '../../runtime/run-event.ts';
import type { Asked } from './asked.ts';
import { closingOf } from './closing.ts';
import { HttpProblem } from './http-problem.ts';

/** How long somebody who repeats a message waits for the run of then, in milliseconds. */
const REPEATED_WAIT_MS = 1_000;

/** What a request says about waiting: `Prefer` of RFC 7240. */
interface Preference {
  isAsync: boolean;
  waitMs: number;
}

/**
 * Answers with a run: 200 and its result once it rests. Where that takes longer than the wait, where this process cannot wait any
 * more (it closes, or its database is away), and with `Prefer: respond-async`, 202 and its ids; it goes on, and the session's events and
 * status tell of it.
 *
 * @throws HttpProblem 409 for a repeated message whose run is still under way, where the result is waited for.
 */
export async function answerRun(asked: Asked, run: Run): Promise<Response> {
  const { request, settings } = asked;
  const { isAsync, waitMs } = preferenceOf(request.headers.get('prefer') ?? '', settings.waitMs);
  const { runId, sessionId, repeated } = run;
  const base = `${settings.basePath}/sessions/${sessionId}`;
  const accepted = () =>
    json({ sessionId, runId, repeated }, 202, {
      location: base,
      ...(isAsync ? { 'preference-applied': 'respond-async' } : {}),
    });
  if (isAsync) return accepted();
  const result = await within(asked, run.result(), repeated ? Math.min(waitMs, REPEATED_WAIT_MS) : waitMs);
  if (result !== null) return json({ ...result, repeated });
  if (!repeated) return accepted();
  throw new HttpProblem(
    409,
    'IN_PROGRESS',
    `The message was accepted before, and its run is under way: ${runId}.`,
    'Repeat it later, or follow the events of the session.',
  );
}

/** A JSON response that is not stored. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  });
}

function preferenceOf(prefer: string, maxWaitMs: number): Preference {
  const preferences = prefer.split(',').map((one) => one.trim().toLowerCase());
  const isAsync = preferences.some((one) => /^respond-async *(;|$)/.test(one));
  const wait = preferences
    .map((one) => /^wait *= *"?(\d{1,6})"?/.exec(one)?.[1])
    .find((seconds) => seconds !== undefined);
  return { isAsync, waitMs: wait === undefined ? maxWaitMs : Math.min(Number(wait) * 1_000, maxWaitMs) };
}

/** `null` when the time is over first, the sender has gone, or this process cannot wait any more: the run goes on. */
async function within(
  { settings, request }: Asked,
  settled: Promise<RunResult>,
  waitMs: number,
): Promise<RunResult | null> {
  const over = new AbortController();
  const closing = closingOf(request);
  const until = AbortSignal.any([over.signal, request.signal, ...(closing === null ? [] : [closing])]);
  const bound = settings.environment.sleep(waitMs, until).then(
    () => null,
    () => null,
  );
  try {
    return await Promise.race([settled.catch(unheard), bound]);
  } finally {
    over.abort();
  }
}

/** What was sent is durable: a process that hears no more of its run must not say that it failed, or it would be sent twice. */
function unheard(error: unknown): null {
  if (isTurnlockError(error) && (error.category === 'transient' || error.code === 'RUNTIME_CLOSED')) return null;
  throw error;
}
