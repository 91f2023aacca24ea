import { describe, expect, it } from 'vitest';
import { readIdempotencyKey } from '../../../adapters/http/idempotency-key.ts';

const read = (field: string) => readIdempotencyKey(new Headers({ 'idempotency-key': field }));

describe('an Idempotency-Key header', () => {
  it.each([
    ['"8e03978e-40d5"', '8e03978e-40d5'],
    ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
    ['"a";q=1', 'a'],
  ])('%s is the key %s', (field, key) => {
    expect(read(field)).toBe(key);
  });

  it('may be absent', () => {
    expect(readIdempotencyKey(new Headers())).toBeNull();
  });

  it.each(['bare', '""', '"a', 'a"', '"a" "b"', '"a", "b"', '"a\\b"', '"ä"', ':YQ==:', '7'])('%s is none', (field) => {
    expect(() => read(field)).toThrow(expect.objectContaining({ problem: expect.objectContaining({ status: 400 }) }));
  });
});
