import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateTranscript } from '../../../../adapters/cli/rehearse/generate-transcript.ts';
import type { RehearsalReport } from '../../../../adapters/cli/rehearse/rehearsal-report.ts';
import { freshDatabase } from '../../../support/fresh-database.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { runTurnlock } from '../run-turnlock.ts';

/** Few conversations with parallel and identical calls, odd characters and every kind of end. */
const CONVERSATIONS = { count: 4, seed: 46 };

async function rehearse(...args: string[]): Promise<RehearsalReport> {
  const folder = await temporaryFolder('turnlock-test-rehearse-');
  await writeFile(join(folder, 'made-up.jsonl'), generateTranscript(CONVERSATIONS));
  const end = await runTurnlock(folder, ['rehearse', 'made-up.jsonl', '--json', '--max-seconds', '100', ...args]);
  expect(end.stderr).toBe('');
  return JSON.parse(end.stdout) as RehearsalReport;
}

function expectEverythingAsRecorded(report: RehearsalReport): void {
  expect(report).toMatchObject({ differences: [], actDifferences: [], failures: [], finished: true });
  expect(report.sessions).toEqual({ recorded: 4, equal: 4 });
  expect(report.toolCalls.acts).toBe(report.toolCalls.recorded);
  expect(report.kills.total).toBeGreaterThan(1);
  expect(report.ok).toBe(true);
}

test('on an embedded database, killed again and again, everything comes out as recorded', async () => {
  const report = await rehearse('--kill-every', '5');
  expectEverythingAsRecorded(report);
  expect(report.database).toBe('pglite');
  expect(report.toolCalls.invocations).toBeGreaterThan(report.toolCalls.recorded);
});

test('on a server, killed again and again, everything comes out as recorded', async () => {
  const { url } = await freshDatabase({ toleratesOpenConnections: true });
  const report = await rehearse('--kill-every', '5', '--seed', '2', '--database', url);
  expectEverythingAsRecorded(report);
  expect(report.database).toBe('postgres');
});

test('a worker that meets its end by itself ends the rehearsal with its error', async () => {
  const folder = await temporaryFolder('turnlock-test-rehearse-');
  await writeFile(join(folder, 'made-up.jsonl'), generateTranscript({ count: 1, seed: 1 }));
  const place = 'postgres://nobody@127.0.0.1:1/nowhere';
  const end = await runTurnlock(folder, ['rehearse', 'made-up.jsonl', '--json', '--database', place]);
  expect(JSON.parse(end.stderr)).toMatchObject({ error: { code: 'DATABASE_UNREACHABLE' } });
  expect(end.code).toBe(3);
});

test('what is not finished in time is not as recorded', async () => {
  const report = await rehearse('--max-seconds', '1');
  expect(report).toMatchObject({ ok: false, finished: false });
});
