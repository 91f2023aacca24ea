import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { describeProperties, runs } from '../../support/property.ts';
import { awkwardJson } from './arbitrary-json.ts';

const bounds = { maxBytes: 1_000_000, maxDepth: 64, name: 'value' };

describeProperties('normaliseJson', () => {
  test('what is stored is what is read: the copy survives JSON unchanged, order of keys and all', () => {
    fc.assert(
      fc.property(awkwardJson, (given) => {
        const { value, bytes } = normaliseJson(given, bounds);
        const stored = JSON.stringify(value);
        expect(isDeepStrictEqual(JSON.parse(stored), value)).toBe(true);
        expect(JSON.stringify(JSON.parse(stored))).toBe(stored);
        expect(bytes).toBe(Buffer.byteLength(stored));
      }),
      runs(300),
    );
  });

  test('no note means no change; a note means U+FFFD within its path', () => {
    fc.assert(
      fc.property(awkwardJson, (given) => {
        const { value, notes } = normaliseJson(given, bounds);
        if (notes.length === 0) expect(isDeepStrictEqual(JSON.parse(JSON.stringify(given)), value)).toBe(true);
        for (const path of notes) expect(textAt(value, path)).toContain('\uFFFD');
      }),
      runs(300),
    );
  });

  test('nothing that PostgreSQL refuses is left', () => {
    fc.assert(
      fc.property(awkwardJson, (given) => {
        const stored = JSON.stringify(normaliseJson(given, bounds).value);
        expect(stored.isWellFormed()).toBe(true);
        expect(stored.replaceAll('\\\\', '')).not.toMatch(/\\u(0000|d[89ab]|d[c-f])/i);
      }),
      runs(300),
    );
  });

  test('normalising again changes nothing', () => {
    fc.assert(
      fc.property(awkwardJson, (given) => {
        const once = normaliseJson(given, bounds);
        expect(isDeepStrictEqual(normaliseJson(once.value, bounds), { ...once, notes: [] })).toBe(true);
      }),
      runs(),
    );
  });

  test('the original is not touched', () => {
    fc.assert(
      fc.property(awkwardJson, (given) => {
        const before = structuredClone(given);
        normaliseJson(given, bounds);
        expect(isDeepStrictEqual(given, before)).toBe(true);
      }),
      runs(),
    );
  });
});

/** Key and value at `path`, as text. */
function textAt(value: unknown, path: string): string {
  const segments = path.split('/').slice(2);
  let place = value;
  for (const segment of segments) {
    place = (place as Record<string, unknown>)[segment.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return `${segments.at(-1) ?? ''} ${JSON.stringify(place)}`;
}
