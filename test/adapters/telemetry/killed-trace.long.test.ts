import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spawnChild } from '../../support/child.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentId: string | null;
  pid: number;
}

test('C02 a run whose process is killed in the middle of a tool is one trace with what the next process does', async () => {
  const { url } = await freshDatabase();
  const file = join(await temporaryFolder('turnlock-test-trace-'), 'spans.jsonl');
  const agent = 'traced';
  const start = (more: { sessionId?: string }) =>
    spawnChild('test/adapters/telemetry/traced-worker.child.ts', {
      args: [JSON.stringify({ url, agent, file, ...more })],
    });
  const first = start({});
  const { sessionId } = (await first.next('created')) as unknown as { sessionId: string };
  await first.next('inTool');
  await first.kill();
  await start({ sessionId }).next('done');
  const spans = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Span);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const [dead] = spans.map(({ pid }) => pid);
  const of = (isDead: boolean) => spans.filter(({ pid }) => (pid === dead) === isDead).map(({ name }) => name);
  expect(of(true)).toEqual(['send_message traced', 'chat scripted', 'POST /charges']);
  expect(of(false)).toEqual(['POST /charges', 'execute_tool charge', 'chat scripted', 'invoke_agent traced']);
  const sent = spans.find(({ name }) => name.startsWith('send_message'));
  expect(spans.find(({ name }) => name.startsWith('invoke_agent'))?.parentId).toBe(sent?.spanId);
});
