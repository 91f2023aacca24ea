import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseDatabase } from '../../../adapters/cli/choose-database.ts';
import { findConfig, readConfig } from '../../../adapters/cli/read-config.ts';
import { readSettings } from '../../../adapters/cli/read-settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const reading = { agents: false, mustExist: false };
const database = `{ kind: 'pglite', connect: () => undefined, from: import.meta.url }`;
let folder = '';

beforeEach(async () => {
  folder = await temporaryFolder('turnlock-config-');
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  vi.stubEnv('TURNLOCK_DATABASE_URL', '');
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function write(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

test('turnlock.config.ts comes before .js and .mjs', async () => {
  expect(findConfig(folder)).toBeNull();
  await write('turnlock.config.mjs', '');
  await write('turnlock.config.js', '');
  expect(findConfig(folder)).toBe(join(folder, 'turnlock.config.js'));
  await write('turnlock.config.ts', '');
  expect(findConfig(folder)).toBe(join(folder, 'turnlock.config.ts'));
});

test('a configuration may export a promise', async () => {
  const file = await write(
    'turnlock.config.mjs',
    `export default Promise.resolve({ database: ${database}, agents: [] });`,
  );
  expect(Object.keys(await readConfig(file))).toEqual(['database', 'agents']);
});

test.each([
  ['nothing', 'export const agents = [];', 'no default export'],
  ['text', "export default 'x';", 'a default export of string'],
  ['another database', "export default { database: 'postgres://x' };", 'another database'],
  ['agents that are no array', 'export default { agents: {} };', 'other agents'],
  ['a module that throws', "throw new RangeError('no luck');", 'RangeError: no luck'],
  ['a module that does not parse', 'export default {', 'Error'],
])('a configuration that exports %s is refused', async (_case, text, found) => {
  const file = await write('turnlock.config.mjs', text);
  await expect(readConfig(file)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(found),
  });
});

test('nothing names a database', async () => {
  await expect(readSettings({}, reading)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

test('--database comes before the environment, that before the configuration', async () => {
  await write('turnlock.config.mjs', `export default { database: ${database} };`);
  expect((await readSettings({}, reading)).database).toHaveProperty('from');
  vi.stubEnv('TURNLOCK_DATABASE_URL', 'postgres://localhost/app');
  expect((await readSettings({}, reading)).database.kind).toBe('postgres');
  expect((await readSettings({ database: './data' }, reading)).database.kind).toBe('pglite');
});

test('a broken configuration hinders nobody who names a database and needs no agents', async () => {
  await write('turnlock.config.mjs', "throw new Error('broken');");
  expect((await readSettings({ database: './data' }, reading)).database.kind).toBe('pglite');
  await expect(readSettings({ database: './data' }, { ...reading, agents: true })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('a folder without a database is only for commands that make one', async () => {
  await mkdir(join(folder, 'empty'));
  expect(chooseDatabase(join(folder, 'empty'), { mustExist: false }).kind).toBe('pglite');
  for (const name of ['empty', 'missing']) {
    expect(() => chooseDatabase(join(folder, name), { mustExist: true })).toThrow(/database does not exist/);
  }
});

test('URLs of other databases are refused', () => {
  expect(() => chooseDatabase('mysql://localhost/app', { mustExist: false })).toThrow(/a URL of mysql:/);
});

test.each(['postgres:/ana:hunter2@host/app', 'postgres:ana:hunter2@host/app', 'ana:hunter2@host/app'])(
  '%s is not taken for a folder, and its password is not shown',
  (place) => {
    const choose = () => chooseDatabase(place, { mustExist: true });
    expect(choose).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(choose).toThrow(expect.objectContaining({ message: expect.not.stringContaining('hunter2') }));
  },
);
