import type { OutgoingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { systemEnvironment } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import { closesBy } from './closing.ts';
import type { FetchHandler } from './identity.ts';
import { isLoopbackName } from './loopback.ts';
import { problemOf, problemResponse } from './problem.ts';

/** Where and how a handler is served. */
export interface ServeOptions {
  /** Default 0: one that is free, which the `url` names. */
  port?: number;
  /** The name or address to listen on. Default 127.0.0.1. Another one than loopback wants a handler that authenticates. */
  host?: string;
  /** How long `close` waits for requests that are under way, in milliseconds; then their connections are cut. Default 5000. */
  closeMs?: number;
  /** Told what a handler threw. Default: a warning of the process. */
  onError?: (error: unknown) => void;
}

/** A server that listens. */
export interface Served extends AsyncDisposable {
  /** Where it listens, without a slash at the end: `http://127.0.0.1:3000`. */
  readonly url: string;
  /**
   * Takes no connection any more, ends open event streams, answers 202 to who waits for a run of `httpHandler`, waits for the other requests
   * that are under way, and cuts after `closeMs` what is left. Runs go on: they are the runtime's. Calling it again waits for the same end.
   */
  close(): Promise<void>;
}

type Handler = (request: Request) => Response | Promise<Response>;

/**
 * Serves a web-standard handler by Node's own HTTP server; it listens once this resolves. For services that have no server of their own.
 *
 * @throws OPTIONS_INVALID for a host beyond loopback where the handler does not authenticate (`authenticates` of {@link FetchHandler}), and for
 * an address that cannot be listened on.
 */
export async function serve(handler: Handler, options: ServeOptions = {}): Promise<Served> {
  const { port = 0, host = '127.0.0.1', closeMs = 5000, onError = warn } = options;
  if (!isLoopbackName(host) && (handler as Partial<FetchHandler>).authenticates !== true) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `host not accepted: ${host} (the handler lets everybody in, wanted a loopback address)`,
      hint: 'Give the handler `authenticate`, or listen on 127.0.0.1.',
    });
  }
  const closing = new AbortController();
  const server = createAdaptorServer({
    overrideGlobalObjects: false,
    fetch: async (request, { outgoing }) => {
      try {
        closesBy(request, closing.signal);
        return endingWith(await handler(request), closing.signal, onError);
      } catch (error) {
        onError(error);
        return problemResponse(problemOf(error));
      } finally {
        // Else the connection is kept for a next request, and the server waits for it.
        if (closing.signal.aborted) (outgoing as OutgoingMessage).shouldKeepAlive = false;
      }
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) => reject(notListening(host, port, cause)));
    try {
      server.listen(port, host, resolve);
    } catch (cause) {
      reject(notListening(host, port, cause as Error));
    }
  });
  server.on('error', onError);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= shut(server as ClosableServer, closing, closeMs);
    return closed;
  };
  const { address, family, port: given } = server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${given}`;
  return { url, close, [Symbol.asyncDispose]: close };
}

interface ClosableServer {
  close(done: () => void): void;
  closeIdleConnections(): void;
  closeAllConnections(): void;
}

async function shut(server: ClosableServer, closing: AbortController, closeMs: number): Promise<void> {
  const over = new AbortController();
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  closing.abort();
  server.closeIdleConnections();
  const cut = systemEnvironment.sleep(closeMs, over.signal).then(
    () => server.closeAllConnections(),
    () => undefined,
  );
  await ended;
  over.abort();
  await cut;
}

/** An event stream never ends by itself: with the server it does, at a whole event, so that its reader comes back with the last id. */
function endingWith(response: Response, closing: AbortSignal, onError: (error: unknown) => void): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isStream || response.body === null) return response;
  const reader = response.body.getReader();
  const end = (): void => void reader.cancel().catch(() => undefined);
  closing.addEventListener('abort', end, { once: true });
  if (closing.aborted) end();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          onError(error);
          // The words of this one may be sent.
          throw new Error('The stream failed.');
        });
        if (!done) return controller.enqueue(value);
        closing.removeEventListener('abort', end);
        controller.close();
      },
      async cancel(reason) {
        closing.removeEventListener('abort', end);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  headers.set('connection', 'close');
  return new Response(body, { status, statusText, headers });
}

function notListening(host: string, port: number, cause: Error): TurnlockError {
  const code = (cause as { code?: string }).code ?? cause.message;
  return new TurnlockError('OPTIONS_INVALID', {
    message: `address not available: ${host}:${port} (${code})`,
    hint: 'Choose another port, or 0 for one that is free.',
    cause,
  });
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error.message : String(error), {
    type: 'Turnlock',
    code: 'HTTP_FAILED',
  });
}
