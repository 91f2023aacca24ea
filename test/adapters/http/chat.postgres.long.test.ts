import { randomUUID } from 'node:crypto';
import { readUIMessageStream, type UIMessage, uiMessageChunkSchema } from 'ai';
import { describe, expect, it, vi } from 'vitest';
import { askUser, type Runtime, requireApproval, ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { chatAt, partsOf } from './chat-client.ts';
import { eventsIn, httpScene, USER } from './http-scene.ts';

const sceneOf = (runtime: Runtime, agent: { name: string }) =>
  httpScene(runtime, { chat: { agent: agent.name }, authorize: () => true });

/** What a page that is opened now begins with. */
async function initial({ ask }: ReturnType<typeof httpScene>, chatId: string): Promise<UIMessage[]> {
  const response = await ask('GET', `/chat/${chatId}`, { as: USER });
  return ((await response.json()) as { messages: UIMessage[] }).messages;
}

/** Without what one copy says and the other leaves out. */
function plain(messages: readonly UIMessage[]): unknown {
  return messages.map(({ id, role, parts }) => ({
    id,
    role,
    parts: parts.map((part) => {
      if (part.type === 'text') return { type: part.type, text: part.text };
      return JSON.parse(JSON.stringify(part));
    }),
  }));
}

describe('a chat of the AI SDK', () => {
  onPostgres((database) => {
    it('streams answers and tools, and its history is what the client holds', async () => {
      const agent = scriptedAgent(eachRun({ text: 'I look.', toolCalls: [call('look', { id: 1 })] }, 'Found it.'), [
        looseTool('look', () => ({ found: 1 })),
      ]);
      const scene = sceneOf(await openRuntime(database(), [agent]), agent);
      const chat = chatAt(await scene.served(), { id: randomUUID() });
      await chat.sendMessage({ text: 'Where is it?' });
      expect([chat.status, chat.error]).toEqual(['ready', undefined]);
      expect(partsOf(chat.lastMessage)).toEqual([
        'step-start',
        'text I look.',
        'tool-look output-available',
        'step-start',
        'text Found it.',
      ]);
      expect(chat.lastMessage?.parts[2]).toMatchObject({ input: { id: 1 }, output: { found: 1 } });
      await chat.sendMessage({ text: 'And again?' });
      expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
      expect(plain(await initial(scene, chat.id))).toEqual(plain(chat.messages));
      expect((await scene.ask('GET', `/chat/${chat.id}/stream`, { as: USER })).status).toBe(204);
      await chat.resumeStream();
      expect([chat.status, chat.messages.length]).toEqual(['ready', 4]);
    });

    it.each([true, false])('asks for approval and goes on once the person decided: %s', async (approved) => {
      const done: unknown[] = [];
      const agent = scriptedAgent(
        eachRun({ text: '', toolCalls: [call('refund', { cents: 5 }), call('refund', { cents: 7 })] }, 'Done.'),
        [
          looseTool('refund', (params) => done.push(params), {
            policy: () => requireApproval({ question: 'Much money.' }),
          }),
        ],
      );
      const runtime = await openRuntime(database(), [agent]);
      const scene = sceneOf(runtime, agent);
      const served = await scene.served();
      const before = chatAt(served, { id: randomUUID() });
      await before.sendMessage({ text: 'Refund.' });
      expect(partsOf(before.lastMessage)).toEqual([
        'step-start',
        'tool-refund approval-requested',
        'tool-refund approval-requested',
      ]);
      // The page is opened again: what it is given at its begin asks the same.
      const chat = chatAt(served, { id: before.id, messages: await initial(scene, before.id) });
      expect(partsOf(chat.lastMessage)).toEqual(partsOf(before.lastMessage));
      const asked = chat.lastMessage!.parts.flatMap((part) =>
        'approval' in part && part.approval ? [part.approval] : [],
      );
      expect(asked).toMatchObject([{ requestReason: 'Much money.' }, { descriptor: { digest: expect.any(String) } }]);
      await chat.addToolApprovalResponse({ id: asked[0]!.id, approved: true });
      await chat.addToolApprovalResponse({ id: asked[1]!.id, approved, reason: 'Too much.' });
      await vi.waitFor(() => expect(partsOf(chat.lastMessage)).toContain('text Done.'), 10_000);
      await chat.settled();
      expect(chat.error).toBeUndefined();
      expect(partsOf(chat.lastMessage)).toEqual([
        'step-start',
        'tool-refund output-available',
        `tool-refund ${approved ? 'output-available' : 'output-denied'}`,
        'step-start',
        'text Done.',
      ]);
      expect(chat.messages).toHaveLength(2);
      expect(done).toHaveLength(approved ? 2 : 1);
      expect(partsOf((await initial(scene, chat.id)).at(-1))).toEqual(partsOf(chat.lastMessage));
      const session = await runtime.session({ tenantId: 'tenant', externalId: chat.id });
      const decisions = (await session.transitions()).filter(({ type }) => type.startsWith('approval.'));
      expect(decisions.map(({ by }) => by)).toEqual(['user', 'user']);
    });

    it('refuses a decision about other params than were seen, or that does not say what was seen', async () => {
      const agent = scriptedAgent(eachRun({ text: '', toolCalls: [call('refund')] }, 'Done.'), [
        looseTool('refund', () => 1, { policy: () => requireApproval() }),
      ]);
      const scene = sceneOf(await openRuntime(database(), [agent]), agent);
      const chat = chatAt(await scene.served(), { id: randomUUID() });
      await chat.sendMessage({ text: 'Refund.' });
      // biome-ignore lint/suspicious/noExplicitAny: a part as it is posted
      const post = (change: (approval: any) => object) => {
        const { parts, ...message } = structuredClone(chat.lastMessage!) as unknown as {
          parts: { approval?: object }[];
        };
        const posted = parts.map((part) =>
          part.approval === undefined
            ? part
            : { ...part, state: 'approval-responded', approval: { ...change(part.approval), approved: true } },
        );
        return scene.ask('POST', '/chat', {
          as: USER,
          body: { id: chat.id, messages: [{ ...message, parts: posted }] },
        });
      };
      const stale = await post((approval) => ({
        ...approval,
        descriptor: { ...approval.descriptor, digest: 'another' },
      }));
      expect([stale.status, await stale.json()]).toMatchObject([409, { code: 'APPROVAL_STALE' }]);
      expect((await post(({ id }) => ({ id }))).status).toBe(400);
      expect(
        (
          await scene.ask('POST', '/chat', {
            as: 'tenant/else',
            body: { id: chat.id, messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'mine?' }] }] },
          })
        ).status,
      ).toBe(409);
      // Sent twice, as after a lost answer: the same decision, and what followed it.
      await (await post((approval) => approval)).body?.cancel();
      const response = await post((approval) => approval);
      const types = [];
      for await (const { data } of eventsIn(response)) types.push(data.type ?? data);
      expect(types).toEqual(
        expect.arrayContaining(['start', 'tool-approval-response', 'tool-output-available', 'finish', '[DONE]']),
      );
    });

    it('shows a failed call as an error, and an unknown outcome as unknown', async () => {
      const agent = scriptedAgent(eachRun({ text: '', toolCalls: [call('fails'), call('vanishes')] }, 'Hm.'), [
        looseTool('fails', () => {
          throw new ToolError('no such order');
        }),
        looseTool(
          'vanishes',
          () => {
            throw new ToolError('the line went dead', { outcome: 'unknown' });
          },
          { effect: 'nonRepeatable' },
        ),
      ]);
      const runtime = await openRuntime(database(), [agent]);
      const scene = sceneOf(runtime, agent);
      const chat = chatAt(await scene.served(), { id: randomUUID() });
      await chat.sendMessage({ text: 'Go.' });
      expect(partsOf(chat.lastMessage)).toEqual([
        'step-start',
        'tool-fails input-available',
        'tool-vanishes input-available',
        'data-unknownOutcome',
      ]);
      expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ data: { toolName: 'vanishes', settledAs: null } });
      const session = await runtime.session({ tenantId: 'tenant', externalId: chat.id });
      const [asked] = (await session.status()).awaiting;
      await (
        await session.settle(asked!.executionId, { outcome: 'succeeded', output: 'paid', by: 'operator' })
      ).result();
      const now = (await initial(scene, chat.id)).at(-1);
      expect(partsOf(now)).toEqual([
        'step-start',
        'tool-fails output-error',
        'tool-vanishes output-available',
        'data-unknownOutcome',
        'step-start',
        'text Hm.',
      ]);
      expect(now?.parts[1]).toMatchObject({ errorText: 'no such order' });
      expect(now?.parts[3]).toMatchObject({ data: { settledAs: 'succeeded' } });
    });

    it('is left and taken up again: the run goes on, and the message is whole', async () => {
      const { opened, open } = gate();
      const agent = scriptedAgent(async (_, { emit }) => {
        emit({ type: 'text', text: 'One ' });
        await opened;
        return 'two.';
      });
      const scene = sceneOf(await openRuntime(database(), [agent]), agent);
      const served = await scene.served();
      const left = chatAt(served, { id: randomUUID() });
      const sending = left.sendMessage({ text: 'Count.' });
      await vi.waitFor(() => expect(partsOf(left.lastMessage)).toContain('text One '), 10_000);
      await left.stop();
      await sending;
      const chat = chatAt(served, { id: left.id, messages: await initial(scene, left.id) });
      const resumed = chat.resumeStream();
      await vi.waitFor(() => expect(partsOf(chat.lastMessage)).toContain('text One '), 10_000);
      open();
      await resumed;
      expect(partsOf(chat.lastMessage).at(-1)).toBe('text two.');
      expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    });

    it('takes back what an attempt wrote that was given up, and says that a run failed without the provider’s words', async () => {
      let attempts = 0;
      const agent = scriptedAgent((_, { emit }) => {
        attempts += 1;
        if (attempts === 2) return 'Better.';
        emit({ type: 'text', text: 'Bad.' });
        throw new Error('secret of the provider');
      });
      const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 2 } });
      const scene = sceneOf(runtime, agent);
      const chat = chatAt(await scene.served(), { id: randomUUID() });
      await chat.sendMessage({ text: 'Go.' });
      expect(partsOf(chat.lastMessage)).toEqual(['step-start', 'text Better.']);
      await chat.sendMessage({ text: 'Once more.' });
      expect(chat.status).toBe('error');
      expect(chat.error?.message).toMatch(/^MODEL_FAILED: /);
      expect(chat.error?.message).not.toContain('secret');
      attempts = 1;
      await chat.regenerate();
      expect(partsOf(chat.lastMessage)).toEqual(['step-start', 'text Better.']);
    });

    it('asks its user, and takes the next message as the answer', async () => {
      const agent = scriptedAgent(
        [{ text: '', toolCalls: [call('askUser', { question: 'Which one?' })] }, 'That one.'],
        [askUser()],
      );
      const scene = sceneOf(await openRuntime(database(), [agent]), agent);
      const chat = chatAt(await scene.served(), { id: randomUUID() });
      await chat.sendMessage({ text: 'Go.' });
      expect(partsOf(chat.lastMessage)).toEqual(['step-start', 'tool-askUser input-available', 'data-question']);
      await chat.sendMessage({ text: 'The red one.' });
      expect(chat.error).toBeUndefined();
      expect(partsOf(chat.lastMessage)).toEqual(['step-start', 'text That one.']);
      const now = await initial(scene, chat.id);
      expect(now.map(({ id, role }) => [id, role])).toEqual(chat.messages.map(({ id, role }) => [id, role]));
      expect(partsOf(now[2])).toEqual(['text The red one.']);
    });

    it('speaks the protocol of the installed SDK, chunk by chunk; a repeat of a message is the same message', async () => {
      const agent = scriptedAgent('Hello.');
      const scene = sceneOf(await openRuntime(database(), [agent]), agent);
      const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] };
      const id = randomUUID();
      const post = () => scene.ask('POST', '/chat', { as: USER, body: { id, messages: [message] } });
      const told: object[][] = [];
      for (const response of [await post(), await post()]) {
        expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
        const chunks: object[] = [];
        for await (const { data } of eventsIn(response)) if (data !== '[DONE]') chunks.push(data);
        told.push(chunks);
      }
      const { validate } = (
        uiMessageChunkSchema as unknown as () => { validate(chunk: unknown): Promise<{ success: boolean }> }
      )();
      for (const chunk of told.flat()) expect((await validate(chunk)).success, JSON.stringify(chunk)).toBe(true);
      expect(told[1]).toEqual(told[0]);
      const messages = [];
      const stream = ReadableStream.from(told[0] as never[]) as ReadableStream<never>;
      for await (const read of readUIMessageStream({ stream, terminateOnError: true })) messages.push(read);
      expect(partsOf(messages.at(-1))).toEqual(['step-start', 'text Hello.']);
      const conflict = await scene.ask('POST', '/chat', {
        as: USER,
        body: { id, messages: [{ ...message, parts: [{ type: 'text', text: 'Other.' }] }] },
      });
      expect(conflict.status).toBe(422);
    });
  });
});
