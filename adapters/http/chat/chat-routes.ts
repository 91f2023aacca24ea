import { Hono } from 'hono';
import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import { isResting } from '../../../machines/session-state.ts';
import type { Run } from '../../../runtime/run.ts';
import { json } from '../answer-run.ts';
import { type Asked, createFor, mayDo, type Opened, openFor } from '../asked.ts';
import { deciderOf } from '../decider.ts';
import { HttpProblem } from '../http-problem.ts';
import type { HttpAction } from '../options.ts';
import { readBody } from '../read-body.ts';
import type { HttpEnv } from '../session-routes.ts';
import { chatHistory } from './chat-history.ts';
import { chatStream } from './chat-stream.ts';
import { POSTED_CHAT, type PostedDecision, readPosted } from './posted-chat.ts';
import { lastMessage } from './segments.ts';

/** What `useChat` of the AI SDK asks: a chat's id is the session's own, or the external id of its session. */
export function chatRoutes(): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();

  app.post('/chat', async ({ var: { asked } }) => {
    const body = await readBody(asked.request, POSTED_CHAT, asked.settings.maxBodyBytes);
    if (body.trigger === 'regenerate-message') return retried(asked, body.id);
    const posted = readPosted(body);
    if (posted.type === 'decisions') return decided(asked, body.id, posted.decisions);
    const opened = (await findChat(asked, body.id, 'send')) ?? (await newChat(asked, body.id, body.agent));
    const { whenBusy = 'enqueue' } = asked.settings.chat;
    const run = await opened.session.send(posted.text, { messageId: posted.messageId, whenBusy });
    return sent(asked, opened, run);
  });

  app.get('/chat/:chatId', async ({ req, var: { asked } }) => {
    const opened = await existing(asked, req.param('chatId'), 'read');
    const { sessionId } = opened.session;
    return json({ sessionId, state: opened.status.state, messages: await chatHistory(asked, opened) });
  });

  app.get('/chat/:chatId/stream', async ({ req, var: { asked } }) => {
    const opened = await findChat(asked, req.param('chatId'), 'read');
    const { session, status } = opened ?? {};
    if (opened === null || session === undefined || status === undefined || isResting(status.state)) {
      return new Response(null, { status: 204 });
    }
    const [begin] = (await lastMessage(session, status.version)) ?? [];
    if (begin === undefined) return new Response(null, { status: 204 });
    const runId = status.runId ?? '';
    const place = { after: begin.sequence - 1, restsFrom: status.version };
    return chatStream(asked, opened, { runId, before: [], ...place, settled: null });
  });
  return app;
}

/** The stream of the run of a message: of one that was sent before, from its begin. */
async function sent(asked: Asked, opened: Opened, run: Run): Promise<Response> {
  const { session, status } = opened;
  const known = run.repeated ? await lastMessage(session, (await session.status()).version, run.runId) : null;
  const after = known === null ? status.version : (known[0]?.sequence ?? 1) - 1;
  const place = { after, restsFrom: after + 1 };
  return chatStream(asked, opened, { runId: run.runId, before: [], ...place, settled: run.result() });
}

async function retried(asked: Asked, chatId: string): Promise<Response> {
  const opened = await existing(asked, chatId, 'control');
  const run = await opened.session.retry({ by: asked.identity.by });
  const { version: after } = opened.status;
  return chatStream(asked, opened, { runId: run.runId, before: [], after, restsFrom: after + 1, settled: null });
}

/** Each decision is bound to the params that were seen, and made by the identity. The first one that is refused is the answer. */
async function decided(asked: Asked, chatId: string, decisions: readonly PostedDecision[]): Promise<Response> {
  const opened = await existing(asked, chatId, 'decide');
  const { session } = opened;
  for (const { executionId, approved, reason, ...seen } of decisions) {
    const who = { ...seen, ...(await deciderOf(asked, opened, { executionId, ...seen })) };
    if (approved) await session.approve(executionId, who);
    else await session.deny(executionId, { ...who, reason: reason ?? 'The user refused the call.' });
  }
  // Also where all of it was decided before, and the answer to that request was lost: what followed is shown once more.
  const message = (await lastMessage(session, (await session.status()).version)) ?? [];
  const made = message.filter(({ type, event }) => {
    const isOne = type === 'approval.granted' || type === 'approval.denied' || type === 'approval.amended';
    return isOne && decisions.some(({ executionId }) => executionId === event?.executionId);
  });
  const [first] = made;
  if (first === undefined) {
    throw new TurnlockError('APPROVAL_DECIDED', {
      message: 'the calls were decided, and the chat has gone on since',
      hint: 'Load the chat again.',
    });
  }
  return chatStream(asked, opened, {
    runId: first.runId ?? '',
    before: message.filter(({ sequence }) => sequence < first.sequence),
    after: first.sequence - 1,
    restsFrom: made.at(-1)?.sequence ?? 0,
    settled: null,
  });
}

async function findChat(asked: Asked, chatId: string, action: HttpAction): Promise<Opened | null> {
  // A session's id first: nobody can give an external id that leads somebody who sees more to another session.
  for (const name of [{ sessionId: chatId }, { externalId: chatId }]) {
    try {
      return await openFor(asked, name, action);
    } catch (error) {
      if (!isTurnlockError(error, 'SESSION_NOT_FOUND')) throw error;
    }
  }
  return null;
}

async function existing(asked: Asked, chatId: string, action: HttpAction): Promise<Opened> {
  return (await findChat(asked, chatId, action)) ?? openFor(asked, { externalId: chatId }, action);
}

async function newChat(asked: Asked, chatId: string, named: string | undefined): Promise<Opened> {
  await mayDo(asked, 'create');
  const { identity, settings } = asked;
  const { agent: configured } = settings.chat;
  const agent = (typeof configured === 'function' ? configured(identity) : configured) ?? named;
  if (agent === undefined || identity.userId === null) {
    const missing = agent === undefined ? 'no agent is named' : 'nobody is named whose chat it is';
    throw new HttpProblem(
      400,
      'REQUEST_INVALID',
      `The chat is new, and ${missing}.`,
      'Set `chat.agent` of the handler, and let `authenticate` say the user; or make the session first.',
    );
  }
  const { userId } = identity;
  const session = await createFor(asked, { agent, userId, externalId: chatId });
  await mayDo(asked, 'send');
  return { session, status: await session.status() };
}
