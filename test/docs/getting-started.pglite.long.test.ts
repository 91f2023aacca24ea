import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type CodeBlock, codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { type NodeEnd, runNode } from './run-node.ts';

const blocks = codeBlocks(readFileSync('docs/getting-started.md', 'utf8'));
const files = Object.fromEntries(blocks.flatMap(({ file, text }) => (file === null ? [] : [[file, text]])));
const steps = blocks.flatMap((block, index) => (block.language === 'sh' ? [stepOf(block, blocks[index + 1])] : []));

const TURNLOCK = resolve('adapters/cli/main.ts');
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** One command of the page, and what the page says that it prints. */
interface Step {
  readonly command: string;
  readonly prints: string | null;
}

function stepOf(command: CodeBlock, next: CodeBlock | undefined): Step {
  return { command: command.text.trim(), prints: next?.language === 'text' ? next.text : null };
}

/** Runs `[NAME=value] node …` or `[NAME=value] npx turnlock …` as a shell would; quotes are single ones. */
async function run(folder: string, command: string): Promise<NodeEnd> {
  const words = [...command.matchAll(/'[^']*'|\S+/g)].map(([word]) => word.replace(/^'|'$/g, ''));
  const env = Object.fromEntries(words.filter((word) => /^[A-Z]+=/.test(word)).map((word) => word.split('=')));
  const rest = words.slice(Object.keys(env).length);
  const args = rest[0] === 'npx' ? [TURNLOCK, ...rest.slice(2)] : rest.slice(1);
  return runNode(folder, args, env);
}

test('the page “Getting started” works from its first line to its last, and prints what it says', async () => {
  const folder = consumerFolder(files);
  const names: Record<string, string> = {};
  const withIds = (text: string) => text.replace(/SESSION|EXECUTION/g, (name) => names[name] ?? name);
  expect(steps).toHaveLength(6);
  for (const { command, prints } of steps) {
    const { stdout, stderr, code, signal } = await run(folder, withIds(command));
    names.SESSION ??= new RegExp(`^${UUID}`, 'm').exec(stdout)?.[0] as string;
    names.EXECUTION ??= new RegExp(`turnlock settle (${UUID})`).exec(stdout)?.[1] as string;
    if (prints !== null) expect(stdout, stderr).toBe(withIds(prints));
    expect([code, signal], stderr).toEqual(command.startsWith('DIE') ? [null, 'SIGKILL'] : [0, null]);
  }
  const ledger = readFileSync(join(folder, 'bank.log'), 'utf8').trim().split('\n');
  expect(ledger.map((line) => line.split(' ').slice(0, 2))).toEqual([
    ['42', '1999'],
    ['43', '1999'],
  ]);
}, 300_000);
