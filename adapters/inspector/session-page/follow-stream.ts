import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { SessionKey } from '../../../persistence/read-session.ts';
import { servicesOf } from '../../../runtime/services-of.ts';
import type { PageEnv } from '../pages.ts';
import { followCommitted } from './follow-committed.ts';

/** How often something is sent, so that a connection that is dead is found, in milliseconds. */
const BEAT_MS = 15_000;

/** After so many milliseconds the stream ends, and who follows comes again: whether it may is asked anew. */
const MAX_STREAM_MS = 5 * 60_000;

/** A sequence as an address or a header has it; `null` for anything else. */
export function readSequence(text: string | null | undefined): number | null {
  return text != null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/**
 * The committed transitions of a session after a sequence as an event stream, each once and in order: its sequence as id, so that a browser
 * that comes again is given what it missed. What stands in them is not sent: whoever follows fetches it as a piece of a page.
 */
export function followStream(context: Context<PageEnv>, key: SessionKey): Response {
  // Nobody reads what follows a HEAD, so nobody would go away either, and the stream would look until its end.
  if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' });
  const { store, runtime, environment } = context.env.visit;
  const { live, closing } = runtime === null ? { live: null, closing: undefined } : servicesOf(runtime);
  const last = readSequence(context.req.header('last-event-id')) ?? readSequence(context.req.query('after')) ?? 0;
  const over = new AbortController();
  const response = streamSSE(context, async (stream) => {
    stream.onAbort(() => over.abort());
    closing?.addEventListener('abort', () => over.abort(), { signal: over.signal });
    if (closing?.aborted) over.abort();
    const end = environment.sleep(MAX_STREAM_MS, over.signal).then(
      () => over.abort(),
      () => undefined,
    );
    const beats = beat();
    await stream.writeSSE({ event: 'following', data: String(last), retry: 2_000 });
    try {
      const options = { after: last, signal: over.signal };
      for await (const { sequence, type, from, to } of followCommitted({ store, live }, key, options)) {
        await stream.writeSSE({
          id: String(sequence),
          event: 'transition',
          data: JSON.stringify({ sequence, type, from, to }),
        });
      }
    } catch {
      // The database stays away, or the runtime was closed: the stream ends, and who follows comes again.
    } finally {
      over.abort();
      await Promise.all([end, beats]);
    }

    async function beat(): Promise<void> {
      try {
        for (;;) {
          await environment.sleep(BEAT_MS, over.signal);
          await stream.write(': still here\n\n');
        }
      } catch {
        over.abort();
      }
    }
  });
  response.headers.set('x-accel-buffering', 'no');
  return response;
}
