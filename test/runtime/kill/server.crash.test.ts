import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import {
  anthropicReply,
  redactedBlock,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../../adapters/models/ai-sdk/anthropic-wire.ts';
import { sseServer } from '../../adapters/models/ai-sdk/sse-server.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { killScene, openByExternalId, recoverAll } from './kill-scene.ts';
import { describeKills } from './kill-suite.ts';

async function onServer() {
  const { url } = await freshDatabase();
  return { location: { url }, adapter: () => postgres(url) };
}

describeKills(onServer);

test('C13 a session that kills its worker each time, with a little progress in between, ends in FAILED', async () => {
  const { kill, resume, acts } = await killScene(await onServer());
  const limits = { maxRecoveries: 2 };
  const dies = { stopAt: 'asking', occurrence: 2, limits };
  await kill({ sessions: { one: 'and on and on' }, ...dies });
  for (const _ of [1, 2]) await kill({ sessions: {}, recovers: true, ...dies });
  expect(acts()).toHaveLength(3);
  const runtime = await resume(limits);
  expect(await recoverAll(runtime, 1)).toEqual(['FAILED']);
  const session = await openByExternalId(runtime, 'one');
  const last = (await session.transitions()).at(-1);
  expect(last).toMatchObject({ type: 'limit.met', event: { code: 'LIMIT_RECOVERIES' } });
  expect(new Set(acts().map(({ key }) => key)).size).toBe(3);
});

test('C14 a process that is paused past its lease and comes back commits nothing any more', async () => {
  const { start, resume, acts } = await killScene(await onServer());
  const zombie = start({ sessions: { one: 'note 1' }, stopAt: 'afterAct', waits: true });
  await zombie.next('stopped');
  process.kill(zombie.pid, 'SIGSTOP');
  const runtime = await resume();
  expect(await recoverAll(runtime, 1)).toEqual(['IDLE']);
  const session = await openByExternalId(runtime, 'one');
  const before = [await session.transitions(), await session.history()];
  zombie.send({ type: 'goOn' });
  process.kill(zombie.pid, 'SIGCONT');
  // Its drive has ended: what it had to commit was refused.
  expect(await zombie.next('rested')).toMatchObject({ state: 'IDLE', reply: 'did note 1' });
  expect([await session.transitions(), await session.history()]).toEqual(before);
  expect(acts().map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(new Set(acts().map(({ key }) => key)).size).toBe(1);
});

test('a process that is killed between a call and its result: another one sends the signed reasoning back to the byte', async () => {
  const signature = `EqoBCkgIARABGAIiQL8/0+z//aZ9u+++${'Zm9v/+'.repeat(200)}==`;
  const data = `EmwKAhgBEgy3va3pzix/LafPsn4a+/${'x'.repeat(300)}==`;
  const server = await sseServer(
    anthropicReply(
      'tool_use',
      thinkingBlock('First the card.\n\n  Then… 🂡', signature),
      redactedBlock(data),
      toolBlock('toolu_01', 'note', '{"n":1,"zeta":"ü"}'),
    ),
    anthropicReply('end_turn', textBlock('Done.')),
  );
  const anthropicUrl = `${server.url}/v1`;
  const { kill, start, acts } = await killScene(await onServer());
  await kill({ sessions: { one: 'Note it.' }, stopAt: 'afterAct', anthropicUrl });
  expect(server.requests).toHaveLength(1);
  const second = start({ sessions: { one: 'Note it.' }, recovers: true, anthropicUrl });
  expect(await second.next('rested')).toMatchObject({ state: 'IDLE', reply: 'Done.' });
  expect(acts().map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[1]?.body.messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'First the card.\n\n  Then… 🂡', signature },
        { type: 'redacted_thinking', data },
        { type: 'tool_use', id: 'toolu_01', name: 'note', input: { n: 1, zeta: 'ü' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'note 1' }] },
  ]);
});
