import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock, startTurnlock } from './run-turnlock.ts';

/** Starts a command that serves, and waits for the address that it prints. */
async function serving(folder: string, args: string[], env: Record<string, string> = {}) {
  const { child, ended } = startTurnlock(folder, args, env);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const url = await new Promise<string>((found, failed) => {
    lines.on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (address !== undefined) found(address);
    });
    void ended.then(({ code, stderr }) => failed(new Error(`ended with ${code}: ${stderr}`)));
  });
  return { child, ended, url };
}

test('turnlock inspect serves an embedded database without agents until a signal ends it, by a token where there is one', async () => {
  const folder = await temporaryFolder('turnlock-inspect-');
  expect((await runTurnlock(folder, ['migrate', '--database', 'data'])).code).toBe(0);
  const { child, ended, url } = await serving(folder, ['inspect', '--database', 'data', '--json'], {
    TURNLOCK_INSPECTOR_TOKEN: 'a secret of many letters',
  });
  expect((await fetch(url)).status).toBe(401);
  const page = await fetch(url, { headers: { authorization: 'Bearer a secret of many letters' } });
  expect([page.status, (await page.text()).includes('No sessions yet')]).toEqual([200, true]);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
});

test.each([
  [['--host', '0.0.0.0'], 'TURNLOCK_INSPECTOR_TOKEN'],
  [['--decide'], '--by'],
  [['--token-file', 'none'], '--token-file'],
])('turnlock inspect %j is refused, and says what is missing', async (args, named) => {
  const folder = await temporaryFolder('turnlock-inspect-');
  const { code, stderr } = await runTurnlock(folder, ['inspect', '--database', 'data', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(named)]);
});

test('the demonstration shows its sessions on a page where it is asked to', async () => {
  const folder = await temporaryFolder('turnlock-inspect-');
  const args = ['demo', '--once', '--inspect', '--model', 'scripted'];
  const { child, ended, url } = await serving(folder, args, { TMPDIR: folder });
  const page = await (await fetch(url)).text();
  expect(page.match(/href="\/sessions\/[0-9a-f-]{36}"/g)).toHaveLength(2);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
});
