import { Hono } from 'hono';
import { z } from 'zod';
import { SESSION_STATES } from '../../machines/session-state.ts';
import { pageSessions, type SessionPlace } from '../../persistence/page-sessions.ts';
import { checkSessions } from '../../runtime/check-query.ts';
import { checkOpen } from '../../runtime/services.ts';
import { servicesOf } from '../../runtime/services-of.ts';
import { answerRun, json } from './answer-run.ts';
import { type Asked, createFor, mayDo, openFor } from './asked.ts';
import { HttpProblem } from './http-problem.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { readBody, readQuery } from './read-body.ts';

/** What the routes share: who asked. */
export interface HttpEnv {
  Variables: { asked: Asked };
}

const metadata = z.record(z.string(), z.unknown()).optional();

const NEW_SESSION = z.strictObject({
  agent: z.string(),
  userId: z.string().optional(),
  externalId: z.string().optional(),
  metadata,
});

const MESSAGE = z.strictObject({
  text: z.string(),
  whenBusy: z.enum(['enqueue', 'reject', 'interrupt', 'supersede']).optional(),
  metadata,
});

const wholeNumber = z.coerce.number().int().nonnegative();
const limit = z.coerce.number().int().min(1).max(1000);

const SESSIONS = z.strictObject({
  state: z.enum(SESSION_STATES).optional(),
  agent: z.string().optional(),
  userId: z.string().optional(),
  externalId: z.string().optional(),
  messageId: z.string().optional(),
  after: z.string().optional(),
  limit: limit.default(50),
});

const AWAITING = z.strictObject({
  reason: z.enum(['approval', 'answer', 'unknown']).optional(),
  userId: z.string().optional(),
  after: z.string().optional(),
  limit: limit.optional(),
});

const HISTORY = z.strictObject({ from: wholeNumber.optional(), limit: limit.default(100) });
const TRANSITIONS = z.strictObject({ after: wholeNumber.optional(), limit: limit.default(100) });

/** Sessions: made, listed, read, sent to, ended. */
export function sessionRoutes(): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();

  app.post('/sessions', async ({ var: { asked } }) => {
    const { request, settings } = asked;
    const { userId, externalId, ...body } = await readBody(request, NEW_SESSION, settings.maxBodyBytes);
    await mayDo(asked, 'create');
    const key = readIdempotencyKey(request.headers);
    if (key !== null && externalId !== undefined && key !== externalId) {
      throw invalid('The Idempotency-Key header and externalId differ.', 'Send one of both.');
    }
    const named = externalId ?? key;
    const session = await createFor(asked, {
      ...withoutAbsent(body),
      agent: body.agent,
      userId: ownUser(asked, userId) ?? missingUser(),
      ...(named === null || named === undefined ? {} : { externalId: named }),
    });
    const location = `${settings.basePath}/sessions/${session.sessionId}`;
    return json({ sessionId: session.sessionId, ...(await session.status()) }, 201, { location });
  });

  app.get('/sessions', async ({ var: { asked } }) => {
    const { userId, after, ...criteria } = readQuery(asked.request, SESSIONS);
    await mayDo(asked, 'read');
    const { limits, store, build } = servicesFor(asked);
    const owner = ownUser(asked, userId) ?? undefined;
    const query = withoutAbsent({ ...criteria, userId: owner, tenantId: asked.identity.tenantId });
    const from = after === undefined ? {} : { from: { place: readPlace(after), to: 'older' as const } };
    const page = await pageSessions(store, { ...checkSessions(query, limits), ...from, build });
    return json({
      sessions: page.sessions.map(({ place: _, ...session }) => session),
      next: page.lookedUpTo === null ? null : toPlace(page.lookedUpTo),
    });
  });

  app.get('/awaiting', async ({ var: { asked } }) => {
    const { userId, ...query } = readQuery(asked.request, AWAITING);
    await mayDo(asked, 'read');
    const awaiting = await asked.runtime.awaiting({
      ...withoutAbsent({ ...query, userId: ownUser(asked, userId) ?? undefined }),
      tenantId: asked.identity.tenantId,
    });
    return json({ awaiting });
  });

  app.get('/sessions/:sessionId', async ({ req, var: { asked } }) => {
    const { session, status } = await openFor(asked, req.param(), 'read');
    return json({ sessionId: session.sessionId, ...status });
  });

  app.get('/sessions/:sessionId/history', async ({ req, var: { asked } }) => {
    const page = withoutAbsent(readQuery(asked.request, HISTORY));
    const { session } = await openFor(asked, req.param(), 'read');
    return json({ turns: await session.history(page) });
  });

  app.get('/sessions/:sessionId/transitions', async ({ req, var: { asked } }) => {
    const page = withoutAbsent(readQuery(asked.request, TRANSITIONS));
    const { session } = await openFor(asked, req.param(), 'read');
    return json({ transitions: await session.transitions(page) });
  });

  app.get('/sessions/:sessionId/awaiting', async ({ req, var: { asked } }) => {
    const query = withoutAbsent(readQuery(asked.request, AWAITING.omit({ userId: true })));
    const { session } = await openFor(asked, req.param(), 'read');
    const { tenantId, sessionId } = session;
    return json({ awaiting: await asked.runtime.awaiting({ ...query, tenantId, sessionId }) });
  });

  app.get('/sessions/:sessionId/explain', async ({ req, var: { asked } }) => {
    const { session } = await openFor(asked, req.param(), 'explain');
    return json(await session.explain());
  });

  app.post('/sessions/:sessionId/messages', async ({ req, var: { asked } }) => {
    const { text, ...body } = await readBody(asked.request, MESSAGE, asked.settings.maxBodyBytes);
    const messageId = readIdempotencyKey(asked.request.headers);
    const { session } = await openFor(asked, req.param(), 'send');
    const run = await session.send(text, { ...withoutAbsent(body), ...(messageId === null ? {} : { messageId }) });
    return answerRun(asked, run);
  });
  return app;
}

/** Whose sessions are meant: one's own, or where one is bound to nobody, those that are named. @throws HttpProblem 403. */
function ownUser({ identity }: Asked, userId: string | undefined): string | null {
  if (identity.userId === null || userId === undefined || userId === identity.userId)
    return identity.userId ?? userId ?? null;
  throw new HttpProblem(403, 'FORBIDDEN', 'The sessions of another user are meant.', 'Leave userId out.');
}

/** What is named as the end of a page. */
function toPlace({ changedMicros, sessionId }: SessionPlace): string {
  return `${changedMicros}.${sessionId}`;
}

function readPlace(after: string): SessionPlace {
  const [, changedMicros, sessionId] = /^(\d{1,17})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(after) ?? [];
  if (changedMicros !== undefined && sessionId !== undefined) return { changedMicros, sessionId };
  throw invalid('after is no end of a page.', 'Send `next` of the page before.');
}

/** What stands behind the runtime. @throws RUNTIME_CLOSED. */
function servicesFor({ runtime }: Asked) {
  const services = servicesOf(runtime);
  checkOpen(services);
  return { limits: services.store.limits, store: services.store, build: services.build };
}

function missingUser(): never {
  throw invalid('Nobody is named whose session it is.', 'Send userId.');
}

function invalid(detail: string, hint: string): HttpProblem {
  return new HttpProblem(400, 'REQUEST_INVALID', detail, hint);
}

type Present<Values> = { [Name in keyof Values]: Exclude<Values[Name], undefined> };

/** The same without what is not there. */
export function withoutAbsent<Values extends object>(values: Values): Present<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<Values>;
}
