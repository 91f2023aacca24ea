import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { requireApproval, TurnlockError } from '../../../index.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { chatAt, partsOf } from './chat-client.ts';
import { httpScene, OPERATOR, USER } from './http-scene.ts';

async function refunds(database: RuntimeDatabase) {
  const agent = scriptedAgent(
    eachRun({ text: '', toolCalls: [call('refund', { cents: 5 }), call('refund', { cents: 7 })] }, 'Done.'),
    [looseTool('refund', () => 'paid', { policy: () => requireApproval() })],
  );
  const scene = httpScene(await openRuntime(database, [agent]), { chat: { agent: agent.name }, authorize: () => true });
  return { ...scene, agent };
}

describe('a chat that is used in odd ways', () => {
  onPostgres((database) => {
    it('is decided on a page that was opened between two decisions', async () => {
      const { served, ask } = await refunds(database());
      const url = await served();
      const first = chatAt(url, { id: randomUUID() });
      await first.sendMessage({ text: 'Refund.' });
      const [asked] = first.lastMessage!.parts.flatMap((part) =>
        'approval' in part && part.approval ? part.approval : [],
      );
      const { descriptor } = asked as unknown as { descriptor: { executionId: string; digest: string } };
      const opened = async () =>
        (await (await ask('GET', `/chat/${first.id}`, { as: USER })).json()) as { sessionId: string; messages: [] };
      const { sessionId } = await opened();
      const approve = `/sessions/${sessionId}/executions/${descriptor.executionId}/approve`;
      expect((await ask('POST', approve, { as: USER, body: { digest: descriptor.digest } })).status).toBe(200);
      const second = chatAt(url, { id: first.id, messages: (await opened()).messages });
      expect(partsOf(second.lastMessage)).toEqual([
        'step-start',
        'tool-refund approval-responded',
        'tool-refund approval-requested',
      ]);
      const open = second.lastMessage!.parts.find((part) => 'state' in part && part.state === 'approval-requested');
      await second.addToolApprovalResponse({ id: (open as { toolCallId: string }).toolCallId, approved: true });
      await vi.waitFor(() => expect(partsOf(second.lastMessage)).toContain('text Done.'), 10_000);
      await second.settled();
      expect(second.error).toBeUndefined();
    });

    it('is the session of that id for who sees both, whatever external id somebody else has chosen', async () => {
      const { ask, agent } = await refunds(database());
      const create = async (as: string, body: object) =>
        (await (await ask('POST', '/sessions', { as, body: { agent: agent.name, ...body } })).json()) as {
          sessionId: string;
        };
      const { sessionId } = await create(USER, {});
      const planted = await create('tenant/eve', { externalId: sessionId });
      const seen = async (as: string) =>
        ((await (await ask('GET', `/chat/${sessionId}`, { as })).json()) as { sessionId: string }).sessionId;
      expect(await seen(OPERATOR)).toBe(sessionId);
      expect(await seen(USER)).toBe(sessionId);
      expect(await seen('tenant/eve')).toBe(planted.sessionId);
    });

    it('shows what a run came to that failed before it was asked for again, and then why', async () => {
      const agent = scriptedAgent(
        [
          { text: 'Let me look.', toolCalls: [call('look', {})] },
          () => {
            throw new TurnlockError('MODEL_FAILED', { message: 'no' });
          },
        ],
        [looseTool('look', () => 'seen')],
      );
      const runtime = await openRuntime(database(), [agent]);
      const { ask } = httpScene(runtime, { chat: { agent: agent.name } });
      const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Look.' }] };
      const body = { id: randomUUID(), messages: [message] };
      const post = async () => (await ask('POST', '/chat', { as: USER, body })).text();
      const types = (text: string) => [...text.matchAll(/"type":"([\w-]+)"/g)].map(([, type]) => type);
      const first = types(await post());
      expect(first).toEqual(expect.arrayContaining(['text-end', 'tool-output-available', 'error', 'finish']));
      expect(types(await post()).filter((type) => type !== 'text-delta')).toEqual(
        first.filter((type) => type !== 'text-delta'),
      );
    });

    it('takes no message in which nothing is said', async () => {
      const { ask } = await refunds(database());
      const body = { id: randomUUID(), messages: [{ id: 'm', role: 'user', parts: [] }] };
      expect((await ask('POST', '/chat', { as: USER, body })).status).toBe(400);
    });

    it('tells the host of no failure when a page goes away in the middle of an answer', async () => {
      const { opened, open } = gate();
      const agent = scriptedAgent(async (_, { emit }) => {
        emit({ type: 'text', text: 'One ' });
        await opened;
        return 'two.';
      });
      const runtime = await openRuntime(database(), [agent]);
      const { served, errors, ask } = httpScene(runtime, { chat: { agent: agent.name } });
      const left = chatAt(await served(), { id: randomUUID() });
      const sending = left.sendMessage({ text: 'Count.' });
      await vi.waitFor(() => expect(partsOf(left.lastMessage)).toContain('text One '), 10_000);
      await left.stop();
      await sending;
      open();
      const state = async () =>
        ((await (await ask('GET', `/chat/${left.id}`, { as: USER })).json()) as { state: string }).state;
      await vi.waitFor(async () => expect(await state()).toBe('IDLE'), 10_000);
      expect(errors).toEqual([]);
    });
  });
});
