import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../../limits.ts';
import { RunScratchpad } from '../../../runtime/working-state/run-scratchpad.ts';

const open = (maxScratchpadBytes: number = LIMITS.maxScratchpadBytes) =>
  new RunScratchpad({ maxScratchpadBytes, maxDepth: 4 });

describe('a scratchpad', () => {
  test('holds JSON by key until it is deleted', () => {
    const pad = open();
    expect([pad.get('a'), pad.keys()]).toEqual([undefined, []]);
    pad.set('a', { list: [1, null, 'x'] });
    pad.set('b', null);
    pad.set('a', false);
    expect([pad.get('a'), pad.get('b'), pad.keys()]).toEqual([false, null, ['a', 'b']]);
    expect([pad.delete('a'), pad.delete('a'), pad.get('a'), pad.keys()]).toEqual([true, false, undefined, ['b']]);
  });

  test('holds copies: what is changed later, here or there, changes nothing', () => {
    const pad = open();
    const given = { list: [1] };
    pad.set('a', given);
    given.list.push(2);
    (pad.get('a') as typeof given).list.push(3);
    expect(pad.get('a')).toEqual({ list: [1] });
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a function', () => 1],
    ['a big integer', 1n],
    ['no number', Number.NaN],
    ['an instance within', { at: [new URL('https://a.example')] }],
  ])('refuses what JSON cannot hold, and keeps what it held: %s', (_, value) => {
    const pad = open();
    pad.set('a', 1);
    expect(() => pad.set('a', value)).toThrow(expect.objectContaining({ code: 'VALUE_INVALID' }));
    expect(pad.get('a')).toBe(1);
  });

  test.each<[unknown, string]>([
    ['', 'VALUE_INVALID'],
    [7, 'VALUE_INVALID'],
    ['a\u0000', 'VALUE_INVALID'],
    ['k'.repeat(256), 'VALUE_TOO_LARGE'],
  ])('refuses the key %j', (key, code) => {
    const pad = open();
    expect(() => pad.set(key as string, 1)).toThrow(expect.objectContaining({ code }));
    expect([pad.get(key as string), pad.delete(key as string)]).toEqual([undefined, false]);
  });

  test('keys are keys, whatever they are called', () => {
    const pad = open();
    pad.set('__proto__', 1);
    expect([pad.get('__proto__'), pad.get('constructor'), pad.keys()]).toEqual([1, undefined, ['__proto__']]);
  });

  test('is bounded in bytes, keys among them: what does not fit changes nothing', () => {
    const pad = open(20);
    pad.set('abc', 'x'.repeat(15)); // 3 and 17
    expect(() => pad.set('d', 1)).toThrow(
      expect.objectContaining({ code: 'VALUE_TOO_LARGE', details: { path: '/scratchpad', unit: 'bytes', limit: 20 } }),
    );
    expect(() => pad.set('abc', 'x'.repeat(16))).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }));
    expect([pad.keys(), pad.get('abc')]).toEqual([['abc'], 'x'.repeat(15)]);
    pad.set('abc', 'é'.repeat(6));
    pad.set('d', 1);
    pad.delete('abc');
    pad.set('e', 'x'.repeat(15));
    expect(pad.keys()).toEqual(['d', 'e']);
  });

  test('is bounded in depth and in keys', () => {
    const pad = open();
    expect(() => pad.set('a', [[[[[]]]]])).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }));
    for (let key = 0; key < 1_000; key += 1) pad.set(`key ${key}`, key);
    expect(() => pad.set('one more', 1)).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }));
    pad.set('key 7', 'again');
    expect(pad.get('key 7')).toBe('again');
  });

  test('holds nothing once its run is over, and fails no tool that is still out', () => {
    const pad = open();
    pad.set('a', 1);
    pad.end();
    pad.set('b', 2);
    expect([pad.get('a'), pad.get('b'), pad.keys(), pad.delete('a')]).toEqual([undefined, undefined, [], false]);
  });
});
