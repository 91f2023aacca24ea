import { describe, expect, test } from 'vitest';
import { CallIds } from '../../../../adapters/models/ai-sdk/call-ids.ts';

describe('C32 ids of calls, as they are sent', () => {
  const idsFor = (...given: (string | null)[]) => {
    const ids = new CallIds();
    return given.map((providerCallId, turnIndex) => ids.next({ turnIndex, ordinal: 0, providerCallId, isOwn: true }));
  };

  test('a provider gets its own back', () => {
    expect(idsFor('toolu_01', 'functions.lookup:0', 'call|fc')).toEqual(['toolu_01', 'functions.lookup:0', 'call|fc']);
  });

  test.each([
    ['repeat in each turn', ['call_0', 'call_0', 'call_0'], ['call_0', 't00001000', 't00002000']],
    ['are empty', ['', ''], ['t00000000', 't00001000']],
    ['are missing', [null], ['t00000000']],
    [
      'hold characters that do not travel',
      ['a b', 'ü', 'a\n', 'x'.repeat(200)],
      ['t00000000', 't00001000', 't00002000', 't00003000'],
    ],
    ['look like ours', ['t00001000', ''], ['t00001000', 't000010001']],
  ])('those that %s are replaced', (_, given, sent) => {
    expect(idsFor(...given)).toEqual(sent);
  });

  test('another provider gets ours, which the strictest takes', () => {
    const ids = new CallIds();
    const id = ids.next({ turnIndex: 41, ordinal: 3, providerCallId: 'functions.lookup:0', isOwn: false });
    expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
  });

  test('calls of one answer that share an id are told apart', () => {
    const ids = new CallIds();
    const sent = [0, 1, 2].map((ordinal) => ids.next({ turnIndex: 1, ordinal, providerCallId: 'same', isOwn: true }));
    expect(new Set(sent).size).toBe(3);
  });
});
