import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallIds } from '../../../../adapters/models/ai-sdk/call-ids.ts';
import { describeProperties, runs } from '../../../support/property.ts';

describeProperties('C32 ids of calls', () => {
  const call = fc.record({
    providerCallId: fc.option(fc.oneof(fc.string(), fc.constantFrom('', 'call_0', 't00000000', 't00001000'))),
    isOwn: fc.boolean(),
  });

  test('every id is there once and can be sent, and a longer history changes none of them', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 30 }), fc.nat({ max: 30 }), (calls, cut) => {
        const sent = (given: typeof calls) => {
          const ids = new CallIds();
          return given.map((one, turnIndex) => ids.next({ turnIndex, ordinal: 0, ...one }));
        };
        const all = sent(calls);
        expect(new Set(all).size).toBe(all.length);
        expect(all.every((id) => /^[\x21-\x7e]+$/.test(id))).toBe(true);
        expect(all.slice(0, cut)).toEqual(sent(calls.slice(0, cut)));
      }),
      runs(200),
    );
  });
});
