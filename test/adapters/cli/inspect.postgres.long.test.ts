import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fieldsOf, getPage, sendForm } from '../inspector/inspect-page.ts';
import { parsePage } from '../inspector/markup.ts';
import { onCallAgent } from './on-call.config.ts';
import { runTurnlock, startTurnlock } from './run-turnlock.ts';

const SECRET = 'a secret of many letters';

/** Starts a command that serves, and waits for the address that it prints. */
async function serving(folder: string, args: string[], env: Record<string, string> = {}) {
  const { child, ended } = startTurnlock(folder, args, env);
  const url = await new Promise<string>((found, failed) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+(?=\D)/.exec(said)?.[0];
      if (address !== undefined) found(address);
    });
    void ended.then(({ code, stderr }) => failed(new Error(`ended with ${code}: ${stderr}`)));
  });
  return { child, ended, url };
}

const bearer = { headers: { authorization: `Bearer ${SECRET}` } };

onPostgres((database) => {
  let folder = '';
  const agent = onCallAgent();

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-inspect-');
    const from = pathToFileURL(resolve('test/adapters/cli/on-call.config.ts')).href;
    await writeFile(join(folder, 'turnlock.config.ts'), `export { config as default } from '${from}';\n`);
    await writeFile(join(folder, 'token'), `${SECRET}\n`);
  });

  const env = (more: Record<string, string> = {}) => ({ TURNLOCK_DATABASE_URL: database().url, ...more });

  /** A session of a tenant that waits for a person. */
  async function asked(tenantId: string) {
    const session = await openSession(await openRuntime(database(), [agent]), agent, { tenantId });
    await (await session.send('pay')).result();
    return session;
  }

  test.each([
    ['of the environment', [], { TURNLOCK_INSPECTOR_TOKEN: SECRET }],
    ['of a file', ['--token-file', 'token'], {}],
  ] as const)(
    'turnlock inspect shows the sessions of all tenants to whoever has the token %s, until a signal ends it',
    async (_from, args, more) => {
      const { sessionId } = await asked('acme');
      const { child, ended, url } = await serving(folder, ['inspect', '--json', '--port', '0', ...args], env(more));
      expect((await fetch(url)).status).toBe(401);
      const page = await fetch(url, bearer);
      expect([page.status, (await page.text()).includes(`/sessions/${sessionId}?tenant=acme`)]).toEqual([200, true]);
      child.kill('SIGINT');
      const end = await ended;
      expect(end).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(end.stdout)).toEqual({ url, tenantId: null, decides: false });
    },
  );

  test('with --decide a person decides in the name of --by, and the session goes on there', async () => {
    const session = await asked('globex');
    const other = await asked('other');
    const args = ['inspect', '--port', '0', '--tenant', 'globex', '--decide', '--by', 'ann'];
    const { child, ended, url } = await serving(folder, args, env());
    const through = Object.assign(
      (request: Request) => fetch(new Request(request.url.replace('http://localhost', url), request)),
      { authenticates: false },
    );
    const page = await getPage(through, '/awaiting');
    expect([page.text.includes('pay'), page.html.includes(other.sessionId)]).toEqual([true, false]);
    const sent = await sendForm(through, '/decide', fieldsOf(page, 'approve'), { origin: url });
    const { text } = parsePage(await sent.text());
    expect([sent.status, text]).toEqual([200, expect.stringContaining('Approved by ann')]);
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    child.kill('SIGTERM');
    const end = await ended;
    expect(end.code, end.stderr).toBe(0); // what the tests' server is like is warned of
    expect(end.stdout).toMatch(/^Inspector: http:\S+\nDecisions are taken; tenant globex\. Ctrl-C ends it\.\n$/);
  });

  test.each([
    [['--host', '0.0.0.0'], 'TURNLOCK_INSPECTOR_TOKEN'],
    [['--decide'], '--by'],
    [['--token-file', 'none'], '--token-file'],
  ])('turnlock inspect %j is refused, and says what is missing', async (args, named) => {
    const { code, stderr, stdout } = await runTurnlock(folder, ['inspect', ...args], env());
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(named)]);
  });
});

test('the demonstration shows its sessions on a page where it is asked to', async () => {
  const folder = await temporaryFolder('turnlock-inspect-');
  const args = ['demo', '--once', '--inspect', '--model', 'scripted'];
  const { child, ended, url } = await serving(folder, args, { TMPDIR: folder });
  const page = await (await fetch(url)).text();
  expect(page.match(/href="\/sessions\/[0-9a-f-]{36}/g)).toHaveLength(2);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
});
