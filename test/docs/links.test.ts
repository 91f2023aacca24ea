import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDocuments } from './documents.ts';

const documents = readDocuments();
const paths = [...documents.keys()];

interface Link {
  readonly target: string;
  readonly anchor: string | null;
}

/** The links of a document to files of the repository and to headings; code is no place for links. */
function relativeLinks(markdown: string): Link[] {
  const text = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link as string)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [target = '', anchor = null] = link.split('#');
      return { target, anchor };
    });
}

/** The anchors that GitHub gives to headings. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```[\s\S]*?^```$/gm, '').match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

describe('the documents', () => {
  test.each(paths)('%s: every link leads to a file and a heading that exist', (path) => {
    const broken = relativeLinks(documents.get(path) as string).filter(({ target, anchor }) => {
      const file = target === '' ? path : normalize(join(dirname(path), target));
      if (!existsSync(file)) return true;
      return anchor !== null && !anchorsOf(documents.get(file) ?? '').includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('docs/README.md links every page of docs', () => {
    const linked = relativeLinks(documents.get('docs/README.md') ?? '').map(({ target }) => join('docs', target));
    const pages = paths.filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
    expect(pages.filter((path) => !linked.includes(path))).toEqual([]);
  });

  test('every document begins with its title', () => {
    expect(paths.filter((path) => !/^# \S/.test(documents.get(path) as string))).toEqual([]);
  });
});
