import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { loadAgents, pickAgent } from '../../../../adapters/cli/chat/load-agents.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { supportAgent } from '../support-agent.ts';

const MAKE = `import { supportAgent } from ${JSON.stringify(pathToFileURL(resolve('test/adapters/cli/support-agent.ts')).href)};
const named = (name) => ({ ...supportAgent(), name });
`;

let folder = '';
let files = 0;

beforeAll(async () => {
  folder = await temporaryFolder('turnlock-agents-');
});

async function names(text: string): Promise<string[]> {
  files += 1;
  const file = join(folder, `agents-${files}.mjs`);
  await writeFile(file, MAKE + text);
  return (await loadAgents(file)).map(({ name }) => name);
}

test('agents are found by default and by name, alone, in arrays and in promises, each once', async () => {
  expect(await names('export default supportAgent();')).toEqual(['support']);
  expect(await names('export const a = named("a"); export const other = 1; export default a;')).toEqual(['a']);
  const mixed = 'export default Promise.resolve([named("a"), 7]); export const agents = [named("b")];';
  expect((await names(mixed)).sort()).toEqual(['a', 'b']);
});

test.each([
  ['export default { name: "support", tools: [] };', 'no agent among its exports'],
  ['export const odd = { get name() { throw new TypeError("odd"); } };', 'no agent among its exports'],
  ['export const nothing = null;', 'no agent among its exports'],
  ['import "./gone.mjs";', 'Cannot find module'],
  ['throw new TypeError("broken\\nhere");', 'TypeError: broken,'],
  ['export default Promise.reject(new Error("late"));', 'Error: late'],
])('%s is refused: %s', async (text, found) => {
  await expect(names(text)).rejects.toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(found) }),
  );
});

test('a file that is not there is refused', async () => {
  const refusal = expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('no file') });
  await expect(loadAgents(join(folder, 'gone.ts'))).rejects.toThrow(refusal);
});

test('one agent is picked by name, or because it is the only one', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ ...supportAgent(), name })) as [ReturnType<typeof supportAgent>, never];
  expect(pickAgent([a], undefined, 'x')).toBe(a);
  expect(pickAgent([a, b], 'b', 'x')).toBe(b);
  const refused = { code: 'CONFIG_INVALID', hint: 'Pass --name with one of: a, b.' };
  expect(() => pickAgent([a, b], undefined, 'x')).toThrow(expect.objectContaining(refused));
  expect(() => pickAgent([a, b], 'c', 'x')).toThrow(expect.objectContaining(refused));
});
