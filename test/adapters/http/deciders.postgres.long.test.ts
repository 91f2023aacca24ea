import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { HttpHandlerOptions } from '../../../adapters/http/options.ts';
import { requireApproval } from '../../../index.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { eventsIn, httpScene, OPERATOR, USER } from './http-scene.ts';

type Rule = Parameters<typeof requireApproval>[0];

/** A session of `tenant/user` that waits for approval. */
async function waiting(database: RuntimeDatabase, rule: Rule, options: Partial<HttpHandlerOptions> = {}) {
  const done: unknown[] = [];
  const refund = looseTool('refund', () => done.push(1), { policy: () => requireApproval(rule) });
  const agent = scriptedAgent(eachRun({ text: '', toolCalls: [call('refund')] }, 'Refunded.'), [refund]);
  const runtime = await openRuntime(database, [agent]);
  const http = httpScene(runtime, { chat: { agent: agent.name }, ...options });
  const id = randomUUID();
  const body = { id, messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'refund' }] }] };
  const types: string[] = [];
  for await (const { data } of eventsIn(await http.ask('POST', '/chat', { as: USER, body }))) types.push(data.type);
  const { awaiting } = (await (await http.ask('GET', '/awaiting')).json()) as {
    awaiting: { executionId: string; sessionId: string; approvalId: string; digest: string }[];
  };
  const { sessionId } = (await (await http.ask('GET', `/chat/${id}`, { as: USER })).json()) as { sessionId: string };
  const { executionId, approvalId, digest } = awaiting.find((one) => one.sessionId === sessionId)!;
  const decide = (as: string, what: 'approve' | 'deny', named: object = {}) =>
    http.ask('POST', `/sessions/${sessionId}/executions/${executionId}/${what}`, {
      as,
      body: { digest, ...(what === 'deny' ? { reason: 'no' } : {}), ...named },
    });
  const answer = (as: string, approved: boolean) => {
    const descriptor = { executionId, approvalId, digest };
    const approval = { id: executionId, approved, descriptor };
    const parts = [{ type: 'tool-refund', toolCallId: executionId, state: 'approval-responded', approval }];
    return http.ask('POST', '/chat', { as, body: { id, messages: [{ id: 'a', role: 'assistant', parts }] } });
  };
  const settle = (as: string) =>
    http.ask('POST', `/sessions/${sessionId}/executions/${executionId}/settle`, { as, body: { outcome: 'succeeded' } });
  const shown = async (as: string) => {
    const { messages } = (await (await http.ask('GET', `/chat/${id}`, { as })).json()) as {
      messages: { parts: { type: string; state?: string; data?: object }[] }[];
    };
    return messages.at(-1)!.parts.filter(({ type }) => type !== 'step-start');
  };
  return { ...http, done, types, decide, answer, settle, shown, executionId };
}

describe('an approval that the user of a session is asked for', () => {
  onPostgres((database) => {
    it('is not his own to give where the policy names nobody, by no way, and shows no button', async () => {
      const { decide, answer, shown, types, done, executionId } = await waiting(database(), {});
      for (const refused of [
        await decide(USER, 'approve'),
        await decide(USER, 'deny'),
        await decide(`${USER}/manager`, 'approve', { approvalId: randomUUID() }),
        await answer(USER, true),
        await answer(USER, false),
      ]) {
        expect([refused.status, await refused.json()]).toMatchObject([
          403,
          { code: 'FORBIDDEN', hint: expect.stringContaining('authorize') },
        ]);
      }
      expect(done).toEqual([]);
      expect(types).not.toContain('tool-approval-request');
      expect(types).toContain('data-awaitingOthers');
      expect(await shown(USER)).toMatchObject([
        { type: 'tool-refund', state: 'input-available' },
        { type: 'data-awaitingOthers', data: { executionId, toolName: 'refund' } },
      ]);
      expect(await shown(OPERATOR)).toMatchObject([{ type: 'tool-refund', state: 'approval-requested' }]);
      expect(await (await decide(OPERATOR, 'approve')).json()).toMatchObject({ reply: 'Refunded.' });
      expect(done).toEqual([1]);
      expect(await shown(USER)).toMatchObject([
        { type: 'tool-refund', state: 'output-available' },
        { type: 'text', text: 'Refunded.' },
      ]);
      // Once it is decided the answer is the runtime's, as for everybody.
      expect([(await decide(USER, 'approve')).status, (await decide(OPERATOR, 'approve')).status]).toEqual([409, 200]);
    });

    it('is his to give where the policy names him, by name or role', async () => {
      const named = await waiting(database(), { approvers: { users: ['user'] } });
      expect(await named.shown(USER)).toMatchObject([{ state: 'approval-requested' }]);
      expect((await named.answer(USER, true)).status).toBe(200);
      const lead = await waiting(database(), { approvers: { roles: ['lead'] } });
      expect((await lead.decide(USER, 'approve')).status).toBe(403);
      expect(await lead.shown(USER)).toMatchObject([{ state: 'input-available' }, { type: 'data-awaitingOthers' }]);
      expect(await (await lead.decide(`${USER}/lead`, 'approve')).json()).toMatchObject({ reply: 'Refunded.' });
    });

    it('is never his own where the policy says `notUser`, by whatever name he decides', async () => {
      const authenticate = () => ({ tenantId: 'tenant', userId: 'user', by: 'user@shop.example', roles: ['lead'] });
      const asked = await waiting(
        database(),
        { approvers: { roles: ['lead'], notUser: true } },
        { authenticate, authorize: () => true },
      );
      const refused = await asked.decide(USER, 'approve');
      expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'APPROVER_NOT_ALLOWED' }]);
      expect((await asked.settle(USER)).status).toBe(403);
    });

    it('nor his to settle once others have granted it, at work or not, given up or not', async () => {
      let atWork = 0;
      const hang = (_params: unknown, { signal }: { signal: AbortSignal }) => {
        atWork += 1;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      };
      const policy = () => requireApproval({ approvers: { roles: ['lead'], notUser: true } });
      const tools = [
        looseTool('refund', hang, { effect: 'nonRepeatable', policy }),
        looseTool('look', hang, { effect: 'nonRepeatable' }),
      ];
      const refunds = [call('refund', { order: 1 }), call('refund', { order: 2 })];
      const replies = [{ toolCalls: refunds }, { toolCalls: [call('look')] }];
      const agent = scriptedAgent(replies, tools);
      const runtime = await openRuntime(database(), [agent]);
      const authenticate = () => ({ tenantId: 'tenant', userId: 'user', by: 'user@shop.example', roles: ['lead'] });
      const http = httpScene(runtime, { authenticate, authorize: () => true });
      const session = await openSession(runtime, agent);
      const settle = async (executionId: string) => {
        const body = { outcome: 'failed', reason: 'It was not done.' };
        const path = `/sessions/${session.sessionId}/executions/${executionId}/settle`;
        const answer = await http.ask('POST', path, { as: USER, body });
        return [answer.status, ((await answer.json()) as { code?: string }).code];
      };
      const refused = [403, 'APPROVER_NOT_ALLOWED'];
      const lead = { by: 'boss', roles: ['lead'] };
      const { awaiting } = await (await session.send('refund')).result();
      const [first, second] = awaiting.map(({ executionId }) => executionId) as [string, string];
      await (await session.approve(first, lead)).result();
      expect(await settle(first)).toEqual(refused);
      await session.approve(second, lead);
      await waitFor(() => atWork === 2, { for: 'both refunds to be at work' });
      expect(await settle(first)).toEqual(refused);
      await session.cancel();
      expect([await settle(first), await settle(second)]).toEqual([refused, refused]);
      await session.settle(first, { outcome: 'failed', reason: 'It was not done.', ...lead });
      // What nobody was asked about is settled by whoever `authorize` lets.
      await session.send('look');
      await waitFor(() => atWork === 3, { for: 'the look to be at work' });
      const [{ execution_id: look }] = (await database().query(
        `SELECT execution_id FROM turnlock.agent_tool_executions WHERE session_id = $1 AND tool_name = 'look'`,
        [session.sessionId],
      )) as [{ execution_id: string }];
      await session.cancel();
      expect(await settle(look)).toEqual([200, undefined]);
    });

    it('is his to give where the host’s `authorize` says so', async () => {
      const asked = await waiting(database(), {}, { authorize: () => true });
      expect(await asked.shown(USER)).toMatchObject([{ state: 'approval-requested' }]);
      expect((await asked.answer(USER, true)).status).toBe(200);
      const none = await waiting(database(), {}, { authorize: (_, action) => action !== 'decide' });
      expect(await none.shown(OPERATOR)).toMatchObject([{ state: 'input-available' }, { type: 'data-awaitingOthers' }]);
      expect((await none.decide(OPERATOR, 'approve')).status).toBe(403);
    });
  });
});
