import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../errors.ts';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');

/** Heading → the text under it. */
const sections = new Map(
  page
    .split(/^#{2,3} /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n'))]),
);

describe('docs/errors.md', () => {
  test('has a heading for every code, and for no other', () => {
    const headings = [...sections.keys()].filter((heading) => /^[A-Z]+(_[A-Z]+)+$/.test(heading));
    expect(headings.sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });

  test('has each heading once', () => {
    expect(page.match(/^### .*$/gm)).toHaveLength(Object.keys(ERROR_CODES).length);
  });

  test.each(Object.keys(ERROR_CODES) as ErrorCode[])(
    '%s says its category, whether to repeat, and what to do',
    (code) => {
      const section = sections.get(code) ?? '';
      const { category, retryable, hint } = ERROR_CODES[code];
      expect(section).toContain(`Category: \`${category}\`. Retryable: ${retryable ? 'yes' : 'no'}.`);
      expect(section).toContain(`What to do: ${hint}`);
      expect(section.split('\n\n').length).toBeGreaterThanOrEqual(4); // what it means stands between the two
    },
  );
});
