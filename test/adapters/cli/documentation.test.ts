import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { allCommands } from '../../../adapters/cli/all-commands.ts';
import { buildProgram } from '../../../adapters/cli/build-program.ts';

let page = '';

beforeAll(async () => {
  page = await readFile('docs/cli.md', 'utf8');
});

test.each(allCommands().map((command) => [command.name(), command] as const))(
  'docs/cli.md has a section for %s with each of its options',
  (name, command) => {
    const section = page.split(/^## /m).find((part) => part.startsWith(`${name}\n`));
    expect(section).toBeDefined();
    const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
    expect(options.filter((option) => !section?.includes(`${option}`))).toEqual([]);
    expect(command.description()).not.toBe('');
  },
);

test('the table at the top of docs/cli.md has every command, and none that is not there', () => {
  const rows = [...page.matchAll(/^\| \[`([\w-]+)`\]\(#([\w-]+)\) \|/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(
    allCommands()
      .map((command) => command.name())
      .sort(),
  );
  expect(rows.filter(([, name, place]) => name !== place)).toEqual([]);
});

test('docs/cli.md lists the options of every command', () => {
  const section = page.split(/^## /m).find((part) => part.startsWith('Options of every command\n'));
  const options = buildProgram([]).options.map(({ long }) => long);
  expect(options.filter((option) => !section?.includes(`${option}`))).toEqual([]);
});
