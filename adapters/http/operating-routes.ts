import { Hono } from 'hono';
import { z } from 'zod';
import { answerRun, json } from './answer-run.ts';
import { openFor } from './asked.ts';
import { deciderOf } from './decider.ts';
import { readBody } from './read-body.ts';
import { type HttpEnv, withoutAbsent } from './session-routes.ts';

const APPROVAL = z.strictObject({
  digest: z.string(),
  approvalId: z.string().optional(),
  params: z.unknown().optional(),
});

const DENIAL = z.strictObject({ digest: z.string(), approvalId: z.string().optional(), reason: z.string() });

const approvalId = z.string().optional();

const SETTLEMENT = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('succeeded'), approvalId, output: z.unknown().optional() }),
  z.strictObject({ outcome: z.literal('failed'), approvalId, reason: z.string() }),
  z.strictObject({ outcome: z.literal('runAgain'), approvalId }),
]);

const NOTHING = z.strictObject({});
const CANCELLATION = z.strictObject({ reason: z.string().optional() });

/** What people do beside the conversation. Who it was is the identity, whatever a body says. */
export function operatingRoutes(): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const execution = '/sessions/:sessionId/executions/:executionId';

  app.post(`${execution}/approve`, async ({ req, var: { asked } }) => {
    const body = withoutAbsent(await readBody(asked.request, APPROVAL, asked.settings.maxBodyBytes));
    const opened = await openFor(asked, req.param(), 'decide');
    const { executionId } = req.param();
    const decider = await deciderOf(asked, opened, { ...body, executionId });
    return answerRun(asked, await opened.session.approve(executionId, { ...body, ...decider }));
  });

  app.post(`${execution}/deny`, async ({ req, var: { asked } }) => {
    const body = withoutAbsent(await readBody(asked.request, DENIAL, asked.settings.maxBodyBytes));
    const opened = await openFor(asked, req.param(), 'decide');
    const { executionId } = req.param();
    const decider = await deciderOf(asked, opened, { ...body, executionId });
    return answerRun(asked, await opened.session.deny(executionId, { ...body, ...decider }));
  });

  app.post(`${execution}/settle`, async ({ req, var: { asked } }) => {
    const settlement = withoutAbsent(await readBody(asked.request, SETTLEMENT, asked.settings.maxBodyBytes));
    const opened = await openFor(asked, req.param(), 'settle');
    const { executionId } = req.param();
    const { by, roles, userId } = asked.identity;
    // Held against the approvers under the lock: a settlement may be about a call of which nothing is asked, or about what is asked by then.
    const who = { by, roles, ...(userId === null ? {} : { userId }) };
    return answerRun(asked, await opened.session.settle(executionId, { ...settlement, ...who }));
  });

  app.post('/sessions/:sessionId/retry', async ({ req, var: { asked } }) => {
    await readBody(asked.request, NOTHING, asked.settings.maxBodyBytes);
    const { session } = await openFor(asked, req.param(), 'control');
    return answerRun(asked, await session.retry({ by: asked.identity.by }));
  });

  app.post('/sessions/:sessionId/cancel', async ({ req, var: { asked } }) => {
    const body = withoutAbsent(await readBody(asked.request, CANCELLATION, asked.settings.maxBodyBytes));
    const { session } = await openFor(asked, req.param(), 'control');
    await session.cancel({ ...body, by: asked.identity.by });
    return json({ sessionId: session.sessionId, ...(await session.status()) });
  });

  app.post('/sessions/:sessionId/complete', async ({ req, var: { asked } }) => {
    await readBody(asked.request, NOTHING, asked.settings.maxBodyBytes);
    const { session } = await openFor(asked, req.param(), 'control');
    await session.complete({ by: asked.identity.by });
    return json({ sessionId: session.sessionId, ...(await session.status()) });
  });
  return app;
}
