import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { DemoReport } from '../../../../adapters/cli/demo/demo-report.ts';
import { ofKind } from '../../../../adapters/cli/demo/ledger.ts';
import { PROVIDERS } from '../../../../adapters/cli/models/providers.ts';
import { atTestEnd } from '../../../support/at-test-end.ts';
import { freshDatabase } from '../../../support/fresh-database.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { messageItem, responsesReply } from '../../models/ai-sdk/openai-wire.ts';
import { sseServer } from '../../models/ai-sdk/sse-server.ts';
import { runTurnlock } from '../run-turnlock.ts';

async function play(...args: string[]): Promise<{ report: DemoReport; left: string[] }> {
  const folder = await temporaryFolder('turnlock-test-demo-');
  const end = await runTurnlock(folder, ['demo', '--once', '--json', ...args], { TMPDIR: folder });
  expect(end.code, end.stderr + end.stdout).toBe(0);
  return { report: JSON.parse(end.stdout) as DemoReport, left: await readdir(folder) };
}

function expectBothScenarios({ ok, scenarios }: DemoReport): void {
  expect(ok).toBe(true);
  expect(scenarios.map(({ number, effect, verdict }) => [number, effect, verdict])).toEqual([
    [1, 'idempotent', null],
    [2, 'nonRepeatable', 'succeeded'],
  ]);
  const count = (kind: 'refundRequested' | 'refundBooked') =>
    scenarios.map(({ ledger }) => ofKind(ledger, kind).length);
  expect(count('refundRequested')).toEqual([2, 1]);
  expect(count('refundBooked')).toEqual([1, 1]);
  for (const { checks } of scenarios) expect(checks.filter(({ holds }) => !holds)).toEqual([]);
}

test('--once on an embedded database: 2 requests and 1 refund, then 1 request and a person; nothing is left behind', async () => {
  const { report, left } = await play();
  expectBothScenarios(report);
  expect([report.database, left]).toEqual(['pglite', []]);
});

test('--once on a server', async () => {
  const { url } = await freshDatabase({ state: 'empty', toleratesOpenConnections: true });
  const { report } = await play('--database', url);
  expectBothScenarios(report);
  expect(report.database).toBe('postgres');
});

test('for people it tells a story without colours in a pipe, and each claim with its verdict', async () => {
  const { code, stdout } = await runTurnlock('.', ['demo', '--once']);
  expect(code).toBe(0);
  expect(stdout).not.toContain('\u001b');
  expect(stdout.match(/^✓ /gm)).toHaveLength(9);
  expect(stdout).not.toContain('✗');
  expect(stdout).toMatch(/kill -9 {3}worker 1 \(process \d+\) is dead/);
});

test('with a model that does not ask for the refund it says so and claims nothing', async () => {
  const server = await sseServer(responsesReply(messageItem('msg_1', 'What a pity.')));
  const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${server.url}/v1` };
  const { code, stdout, stderr } = await runTurnlock('.', ['demo', '--once'], env);
  expect(code).toBe(1);
  expect(stdout).toContain(`The model is openai/${PROVIDERS.openai.modelId}.`);
  expect(stdout).not.toMatch(/[✓✗]/);
  expect(stderr).toMatch(/^MODEL_FAILED: the model did not ask for the refund.*What a pity/);
});

test('a signal ends it with its children and its folder', async () => {
  const folder = await temporaryFolder('turnlock-test-demo-');
  const tmp = join(folder, 'tmp');
  await mkdir(tmp);
  const child = spawn(process.execPath, ['adapters/cli/main.ts', 'demo', '--once', '--model', 'scripted'], {
    env: { ...process.env, TMPDIR: tmp },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atTestEnd(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const said = (pattern: RegExp) => lines.map((line) => pattern.exec(line)?.[1]).find(Boolean);
  await waitFor(() => said(/is (dead)/), { for: 'the first kill', timeoutMs: 60_000 });
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([143, null]);
  expect(await readdir(tmp)).toEqual([]);
  const payments = `http://127.0.0.1:${said(/on port (\d+)/)}/orders/1`;
  const isGone = () =>
    fetch(payments).then(
      () => false,
      () => true,
    );
  expect(await waitFor(isGone, { for: 'the end of the payments service' })).toBe(true);
});
