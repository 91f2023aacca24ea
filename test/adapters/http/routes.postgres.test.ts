import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { httpHandler } from '../../../adapters/http/http-handler.ts';
import { requireApproval } from '../../../index.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { httpScene, newKey, USER } from './http-scene.ts';

async function scene(database: RuntimeDatabase) {
  const done: unknown[] = [];
  const refund = looseTool('refund', (params) => done.push(params), { policy: () => requireApproval() });
  const agent = scriptedAgent(eachRun({ text: '', toolCalls: [call('refund', { cents: 5 })] }, 'Refunded.'), [refund]);
  const runtime = await openRuntime(database, [agent]);
  const http = httpScene(runtime);
  const created = await http.ask('POST', '/sessions', { as: USER, body: { agent: agent.name } });
  expect(created.status).toBe(201);
  const { sessionId } = (await created.json()) as { sessionId: string };
  expect(created.headers.get('location')).toBe(`/sessions/${sessionId}`);
  return { ...http, runtime, agent, done, sessionId, path: `/sessions/${sessionId}` };
}

describe('sessions by HTTP', () => {
  onPostgres((database) => {
    it('are sent to, asked about and decided; a repeat gets the same answer', async () => {
      const { ask, path, sessionId, done } = await scene(database());
      const key = newKey();
      const send = () =>
        ask('POST', `${path}/messages`, { as: USER, headers: { 'idempotency-key': key }, body: { text: 'refund' } });
      const answered = await send();
      const first = (await answered.json()) as { runId: string; awaiting: { executionId: string; digest: string }[] };
      expect([answered.status, first]).toMatchObject([200, { sessionId, state: 'AWAITING_INPUT', repeated: false }]);
      expect(await (await send()).json()).toEqual({ ...first, repeated: true });
      const other = await ask('POST', `${path}/messages`, {
        as: USER,
        headers: { 'idempotency-key': key },
        body: { text: 'other' },
      });
      expect([other.status, await other.json()]).toMatchObject([422, { code: 'MESSAGE_CONFLICT' }]);

      const listed = (await (await ask('GET', `${path}/awaiting`, { as: USER })).json()) as { awaiting: unknown[] };
      expect(listed.awaiting).toMatchObject([{ toolName: 'refund', digest: first.awaiting[0]!.digest }]);
      expect(await (await ask('GET', '/awaiting?reason=unknown')).json()).toEqual({ awaiting: [] });

      const { executionId, digest } = first.awaiting[0]!;
      const approve = `${path}/executions/${executionId}/approve`;
      expect((await ask('POST', approve, { body: {} })).status).toBe(400);
      const stale = await ask('POST', approve, { body: { digest: 'another' } });
      expect([stale.status, await stale.json()]).toMatchObject([409, { code: 'APPROVAL_STALE' }]);
      const byHand = { outcome: 'failed', reason: 'no', approvalId: randomUUID() };
      const elsewhere = await ask('POST', `${path}/executions/${executionId}/settle`, { body: byHand });
      expect([elsewhere.status, await elsewhere.json()]).toMatchObject([409, { code: 'APPROVAL_STALE' }]);
      const forged = await ask('POST', approve, { body: { digest, by: 'somebody' } });
      expect(forged.status).toBe(400);
      const approved = await ask('POST', approve, { body: { digest } });
      expect(await approved.json()).toMatchObject({ state: 'IDLE', reply: 'Refunded.' });
      expect(done).toEqual([{ cents: 5 }]);

      const { turns } = (await (await ask('GET', `${path}/history?from=1&limit=2`)).json()) as { turns: unknown[] };
      expect(turns).toMatchObject([{ turnIndex: 1 }, { turnIndex: 2, role: 'tool' }]);
      const { transitions } = (await (await ask('GET', `${path}/transitions?after=2&limit=1`)).json()) as {
        transitions: { by: string }[];
      };
      expect(transitions).toMatchObject([{ sequence: 3, type: 'approval.granted', by: 'operator' }]);
      expect(await (await ask('GET', `${path}/explain`)).json()).toMatchObject({ state: 'IDLE' });
      const completed = await ask('POST', `${path}/complete`);
      expect(await completed.json()).toMatchObject({ state: 'COMPLETED', sessionId });
      const late = await ask('POST', `${path}/messages`, { body: { text: 'more' } });
      expect([late.status, await late.json()]).toMatchObject([409, { code: 'SESSION_COMPLETED' }]);
    });

    it('are those of one tenant and one user, and every other one is not found', async () => {
      const { ask, path, sessionId } = await scene(database());
      const run = await ask('POST', `${path}/messages`, { as: USER, body: { text: 'refund' } });
      const { awaiting } = (await run.json()) as { awaiting: { executionId: string; digest: string }[] };
      const { executionId, digest } = awaiting[0]!;
      const asks = [
        ['GET', ''],
        ['GET', '/history'],
        ['GET', '/transitions'],
        ['GET', '/awaiting'],
        ['GET', '/explain'],
        ['GET', '/events'],
        ['POST', '/messages', { text: 'x' }],
        ['POST', `/executions/${executionId}/approve`, { digest }],
        ['POST', `/executions/${executionId}/deny`, { digest, reason: 'x' }],
        ['POST', `/executions/${executionId}/settle`, { outcome: 'succeeded' }],
        ['POST', '/retry', {}],
        ['POST', '/cancel', {}],
        ['POST', '/complete', {}],
      ] as const;
      const none = await (await ask('GET', `/sessions/${randomUUID()}`)).json();
      for (const as of ['other/*', 'other/user', 'tenant/else']) {
        for (const [method, rest, body] of asks) {
          const response = await ask(method, path + rest, { as, ...(body === undefined ? {} : { body }) });
          const problem = (await response.json()) as Record<string, unknown>;
          expect([response.status, problem.code], `${as} ${method} ${rest}`).toEqual([404, 'SESSION_NOT_FOUND']);
          expect({ ...problem, details: 0 }).toEqual({ ...(none as object), details: 0 });
        }
        expect(await (await ask('GET', '/sessions', { as })).text()).not.toContain(sessionId);
        expect(await (await ask('GET', '/awaiting', { as })).text()).not.toContain(sessionId);
        expect((await ask('GET', `/chat/${sessionId}`, { as })).status).toBe(404);
        expect((await ask('GET', `/chat/${sessionId}/stream`, { as })).status).toBe(204);
      }
      expect((await ask('GET', '/sessions?userId=else', { as: USER })).status).toBe(403);
      expect(
        (await ask('POST', `${path}/executions/${executionId}/settle`, { as: USER, body: { outcome: 'runAgain' } }))
          .status,
      ).toBe(403);
      expect((await ask('GET', path, { as: USER })).status).toBe(200);
    });

    it('are listed in pages by key', async () => {
      const { ask, agent } = await scene(database());
      for (let count = 0; count < 4; count += 1) {
        await ask('POST', '/sessions', { body: { agent: agent.name, userId: `u${count}` } });
      }
      const seen: string[] = [];
      for (let after = ''; ; ) {
        const page = (await (await ask('GET', `/sessions?agent=${agent.name}&limit=2${after}`)).json()) as {
          sessions: { sessionId: string }[];
          next: string | null;
        };
        seen.push(...page.sessions.map(({ sessionId }) => sessionId));
        if (page.next === null) break;
        after = `&after=${page.next}`;
      }
      expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
      expect((await ask('GET', "/sessions?after=1'--")).status).toBe(400);
    });

    it('are waited for as long as was asked, and go on when nobody waits', async () => {
      const { opened, open } = gate();
      const agent = scriptedAgent(async () => {
        await opened;
        return 'done';
      });
      const { ask } = httpScene(await openRuntime(database(), [agent]));
      const body = { agent: agent.name, userId: 'u', externalId: randomUUID() };
      const { sessionId } = (await (await ask('POST', '/sessions', { body })).json()) as { sessionId: string };
      const again = await ask('POST', '/sessions', {
        body: { ...body, externalId: undefined },
        headers: { 'idempotency-key': `"${body.externalId}"` },
      });
      expect(await again.json()).toMatchObject({ sessionId });
      const headers = { 'idempotency-key': newKey(), prefer: 'respond-async' };
      const path = `/sessions/${sessionId}/messages`;
      const accepted = await ask('POST', path, { body: { text: 'go' }, headers });
      expect([accepted.status, accepted.headers.get('preference-applied')]).toEqual([202, 'respond-async']);
      expect((await ask('POST', path, { body: { text: 'go' }, headers })).status).toBe(202);
      const waiting = await ask('POST', path, { body: { text: 'go' }, headers: { ...headers, prefer: 'wait=0' } });
      expect([waiting.status, waiting.headers.get('retry-after'), await waiting.json()]).toMatchObject([
        409,
        '1',
        { code: 'IN_PROGRESS' },
      ]);
      open();
      const done = await ask('POST', path, { body: { text: 'go' }, headers: { ...headers, prefer: 'wait=60' } });
      expect(await done.json()).toMatchObject({ reply: 'done', repeated: true });
    });

    it('refuse what is no request of theirs', async () => {
      const { ask, path, errors, agent } = await scene(database());
      const text = { text: 'x' };
      const refused = async (response: Promise<Response>) => {
        const { status, headers } = await response;
        expect(headers.get('content-type')).toBe('application/problem+json');
        return status;
      };
      expect(await refused(ask('GET', '/nowhere'))).toBe(404);
      expect(await refused(ask('GET', '/sessions/not-a-uuid'))).toBe(404);
      const method = await ask('DELETE', path);
      expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(
        await refused(
          ask('POST', `${path}/messages`, { raw: '{"text":"x"}', headers: { 'content-type': 'text/plain' } }),
        ),
      ).toBe(415);
      expect(
        await refused(ask('POST', `${path}/messages`, { raw: '{', headers: { 'content-type': 'application/json' } })),
      ).toBe(400);
      expect(await refused(ask('POST', `${path}/messages`, { body: { text: 'x'.repeat(1_100_000) } }))).toBe(413);
      expect(
        await refused(ask('POST', `${path}/messages`, { body: text, headers: { 'idempotency-key': 'bare' } })),
      ).toBe(400);
      expect(await refused(ask('POST', `${path}/messages`, { body: text, headers: { 'idempotency-key': '""' } }))).toBe(
        400,
      );
      expect(
        await refused(ask('POST', `${path}/messages`, { body: text, headers: { origin: 'https://evil.test' } })),
      ).toBe(403);
      expect(await refused(ask('GET', path, { headers: { authorization: 'none' } }))).toBe(401);
      expect(await refused(ask('GET', `${path}/history?limit=0`))).toBe(400);
      expect(await refused(ask('GET', `${path}/history?limti=1`))).toBe(400);
      expect(await refused(ask('POST', '/sessions', { body: { agent: 'nobody', userId: 'u' } }))).toBe(422);
      expect(await refused(ask('POST', '/sessions', { body: { agent: agent.name } }))).toBe(400);
      expect(await refused(ask('POST', `${path}/retry`))).toBe(409);
      expect(
        await refused(ask('POST', `${path}/executions/${randomUUID()}/settle`, { body: { outcome: 'runAgain' } })),
      ).toBe(404);
      expect(errors).toEqual([]);
    });

    it('answer only loopback where nobody is asked who he is, and fail without a word of why', async () => {
      const { runtime, agent } = await scene(database());
      const open = httpHandler(runtime, {
        identity: { tenantId: 'tenant', userId: 'user', by: 'me' },
        basePath: '/api',
      });
      expect((await open(new Request('http://127.0.0.1:3000/api/sessions'))).status).toBe(200);
      expect((await open(new Request('http://rebound.test/api/sessions'))).status).toBe(421);
      expect(open.authenticates).toBe(false);
      expect(() => httpHandler(runtime, {})).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
      for (const authenticate of [
        () => {
          throw new Error('secret');
        },
        () => ({ tenantId: 7 }) as never,
      ]) {
        const { ask, errors } = httpScene(runtime, { authenticate });
        const response = await ask('GET', '/sessions');
        expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')]);
        expect(errors).toHaveLength(1);
      }
      await runtime.close();
      const { ask } = httpScene(runtime);
      const closed = await ask('POST', '/sessions', { body: { agent: agent.name, userId: 'u' } });
      expect([closed.status, await closed.json()]).toMatchObject([503, { code: 'RUNTIME_CLOSED' }]);
    });
  });
});
