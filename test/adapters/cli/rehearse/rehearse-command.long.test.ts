import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateTranscript } from '../../../../adapters/cli/rehearse/generate-transcript.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { runTurnlock } from '../run-turnlock.ts';

test('--generate prints recordings and runs nothing', async () => {
  const { code, stdout } = await runTurnlock('.', ['rehearse', '--generate', '3', '--seed', '5']);
  expect(stdout).toBe(generateTranscript({ count: 3, seed: 5 }));
  expect(code).toBe(0);
});

test('a file that cannot be rehearsed is refused with its line before anything runs', async () => {
  const folder = await temporaryFolder('turnlock-test-rehearse-');
  await writeFile(join(folder, 'bad.jsonl'), `${generateTranscript({ count: 1, seed: 1 })}{"id":"b","messages":[]}\n`);
  const { code, stdout, stderr } = await runTurnlock(folder, ['rehearse', 'bad.jsonl']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^TRANSCRIPT_INVALID: .*line 2, messages \(found no message/);
});

test.each([
  ['no file', ['rehearse'], 'OPTIONS_INVALID'],
  ['a file that is not there', ['rehearse', 'nowhere.jsonl'], 'TRANSCRIPT_INVALID'],
  ['a number that is none', ['rehearse', 'a.jsonl', '--kill-every', 'often'], 'OPTIONS_INVALID'],
])('%s is refused', async (_what, args, errorCode) => {
  const { code, stderr } = await runTurnlock('.', [...args, '--json']);
  expect([code, JSON.parse(stderr).error.code]).toEqual([2, errorCode]);
});
