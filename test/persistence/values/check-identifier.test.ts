import { describe, expect, test } from 'vitest';
import { checkIdentifier } from '../../../persistence/values/check-identifier.ts';
import { checkUuid } from '../../../persistence/values/check-uuid.ts';
import { refusalOf } from './refusal-of.ts';

const bounds = { name: 'tenantId', maxCharacters: 4 };

describe('checkIdentifier', () => {
  test.each(['a', 'acme', 'é', '😀😀😀😀', ' ', 'A/b'])('%j passes unchanged', (value) => {
    expect(checkIdentifier(value, bounds)).toBe(value);
  });

  test.each([[''], ['a\0'], ['\ud83d'], [undefined], [null], [7], [{}]])('%j is refused, never changed', (value) => {
    expect(refusalOf(() => checkIdentifier(value, bounds))).toMatchObject({
      code: 'VALUE_INVALID',
      details: { path: '/tenantId' },
    });
  });

  test.each(['acme1', '😀😀😀😀😀'])('%j has too many characters', (value) => {
    expect(refusalOf(() => checkIdentifier(value, bounds))).toMatchObject({
      code: 'VALUE_TOO_LARGE',
      details: { path: '/tenantId', unit: 'characters', limit: 4 },
    });
  });
});

describe('checkUuid', () => {
  const id = '0190b2a4-5f6e-7c3d-8a9b-0c1d2e3f4a5b';

  test('is one form of an id, in lower case', () => {
    expect(checkUuid(id, 'sessionId')).toBe(id);
    expect(checkUuid(id.toUpperCase(), 'sessionId')).toBe(id);
  });

  test.each([`{${id}}`, id.replaceAll('-', ''), ` ${id}`, `${id}\n`, id.slice(1), '', 7, null, undefined])(
    '%j is refused, whatever PostgreSQL reads',
    (value) => {
      expect(refusalOf(() => checkUuid(value, 'sessionId'))).toMatchObject({
        code: 'VALUE_INVALID',
        details: { path: '/sessionId', wanted: 'a UUID' },
      });
    },
  );
});
