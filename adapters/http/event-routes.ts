import { Hono } from 'hono';
import { z } from 'zod';
import type { StoredTransition } from '../../persistence/read-transitions.ts';
import type { StoredTurn } from '../../persistence/read-turns.ts';
import type { Session } from '../../runtime/session-handle.ts';
import { type Asked, openFor } from './asked.ts';
import { eventStream, toMessage } from './event-stream.ts';
import { HttpProblem } from './http-problem.ts';
import { readQuery } from './read-body.ts';
import type { HttpEnv } from './session-routes.ts';

const EVENTS = z.strictObject({ after: z.string().optional(), deltas: z.enum(['true', 'false']).default('true') });

/** After how many milliseconds a browser comes back to a stream that ended. */
const RECONNECT_MS = 1_000;

/** The events of a session as they are committed. */
export function eventRoutes(): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/sessions/:sessionId/events', async ({ req, var: { asked } }) => {
    const { after: place, deltas } = readQuery(asked.request, EVENTS);
    const { session, status } = await openFor(asked, req.param(), 'read');
    const lastId = asked.request.headers.get('last-event-id') ?? place;
    const after = lastId === undefined || lastId === '' ? 0 : readPlace(lastId, status.version);
    // 204 tells a browser not to come back: nothing follows.
    if (status.state === 'COMPLETED' && after === status.version) return new Response(null, { status: 204 });
    const ends = new AbortController();
    const messages = toMessages(asked, session, { after, deltas: deltas === 'true', isBack: after > 0, ends });
    const { heartbeatMs, environment, onError } = asked.settings;
    return eventStream(messages, {
      ends,
      heartbeatMs,
      environment,
      onError: (error) => onError(error, asked.request),
    });
  });
  return app;
}

function readPlace(lastId: string, version: number): number {
  const place = /^\d{1,10}$/.test(lastId) ? Number(lastId) : Number.NaN;
  if (place <= version) return place;
  throw new HttpProblem(
    400,
    'REQUEST_INVALID',
    'The last event id is none of this session.',
    'Send the id of the last event that was seen, or none to begin with the first one.',
  );
}

async function* toMessages(
  { request }: Asked,
  session: Session,
  { after, deltas, isBack, ends }: { after: number; deltas: boolean; isBack: boolean; ends: AbortController },
): AsyncGenerator<string, void> {
  const signal = AbortSignal.any([ends.signal, request.signal]);
  yield `retry: ${RECONNECT_MS}\n\n`;
  // Who comes back may have been shown pieces that nobody can tell of here; what goes on is shown from its begin.
  if (deltas && isBack) yield toMessage({ event: 'voided', data: { runId: null, attempt: null } });
  for await (const { type, ...followed } of session.follow({ after, deltas, signal })) {
    if (!('transition' in followed)) {
      yield toMessage({ event: type, data: followed });
      continue;
    }
    const { transition } = followed;
    const data = { ...transition, turns: await turnsOf(session, transition) };
    yield toMessage({ event: type, id: transition.sequence, data });
    if (transition.to === 'COMPLETED') return;
  }
}

/** The turns that a transition wrote. */
export async function turnsOf(session: Session, { turnIndexes }: StoredTransition): Promise<StoredTurn[]> {
  const [from] = turnIndexes;
  if (from === undefined) return [];
  return session.history({ from, limit: turnIndexes.length });
}
