import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { docExamples } from './doc-examples.ts';
import { readDocuments } from './documents.ts';

/** What any document may import from `./support.ts` or `./agents.ts` without showing it: an agent. */
const SUPPORT = `import { defineAgent } from 'turnlock';
import { scripted } from 'turnlock/scripted';
export const support = defineAgent({ name: 'support', instructions: 'Help.', model: scripted('Yes.') });
`;

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    module: 'nodenext',
    moduleDetection: 'force',
    resolveJsonModule: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    strict: true,
    skipLibCheck: true,
  },
  include: ['documents/**/*.ts', 'comments/**/*.ts'],
});

/** Every block of TypeScript that imports something or is a file by name, as a file of its document's folder. */
function programs(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [path, markdown] of readDocuments()) {
    const folder = `documents/${path.replace(/\W+/g, '-')}`;
    for (const { language, file, line, text } of codeBlocks(markdown)) {
      if (language !== 'ts' || (file === null && !/^import /m.test(text))) continue;
      files[`${folder}/${file ?? `line-${line}.ts`}`] = text;
    }
    if (!Object.keys(files).some((name) => name.startsWith(folder))) continue;
    for (const name of ['support.ts', 'agents.ts']) files[`${folder}/${name}`] ??= SUPPORT;
  }
  return files;
}

test('the fences of a document are found, with the names of files', () => {
  const markdown = 'text\n\n`a/b.ts`:\n\n```ts\nconst a = 1;\n```\n\n```sh\nls\n```\n';
  expect(codeBlocks(markdown)).toEqual([
    { line: 6, language: 'ts', file: 'a/b.ts', text: 'const a = 1;\n' },
    { line: 10, language: 'sh', file: null, text: 'ls\n' },
  ]);
});

test('every program in a document, and every example in a doc comment, type-checks against the sources', async () => {
  const documents = programs();
  const comments = Object.entries(docExamples()).map(([path, text]) => [`comments/${path}`, text]);
  expect(Object.keys(documents).length).toBeGreaterThan(4);
  expect(comments.length).toBeGreaterThan(4);
  const folder = consumerFolder({ ...documents, ...Object.fromEntries(comments), 'tsconfig.json': TSCONFIG });
  const tsc = promisify(execFile)(resolve('node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder });
  const errors = await tsc.then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
  expect(errors).toBe('');
}, 180_000);
