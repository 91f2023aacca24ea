import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FAULT_POINTS } from '../../../environment.ts';
import { isTurnlockError } from '../../../errors.ts';
import type { Fault } from '../../../testing/faults/fault-plan.ts';
import { readFaults, writeFaults } from '../../../testing/faults/fault-text.ts';
import { describeProperties, runs } from '../../support/property.ts';

const kind = fc.constantFrom('crash', 'stall', 'disconnect', 'timeout');
const occurrence = fc.integer({ min: 1, max: 999_999_999 });
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ point: fc.constantFrom(...FAULT_POINTS, 'place', 'any'), occurrence, fault: kind }),
  fc.record({ point: fc.constant('place'), place: fc.string({ unit: 'binary' }), occurrence, fault: kind }),
) as fc.Arbitrary<Fault>;

describeProperties('the text of faults', () => {
  test('faults are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(fault, { maxLength: 4 }), (faults) => {
        expect(readFaults(writeFaults(faults))).toEqual(faults);
      }),
      runs(200),
    );
  });

  test('any other text is refused with a position in it, or comes to faults that are written with the same meaning', () => {
    const pieces = fc.constantFrom('crash', 'at', 'commitSent', "'a place'", '#2', ';', ' ', "'", '#', 'x', '\n');
    fc.assert(
      fc.property(
        fc.array(pieces).map((all) => all.join(' ')),
        (text) => {
          try {
            const faults = readFaults(text);
            expect(readFaults(writeFaults(faults))).toEqual(faults);
          } catch (error) {
            if (!isTurnlockError(error, 'OPTIONS_INVALID')) throw error;
            const { position } = error.details as { position: number };
            expect(position).toBeGreaterThanOrEqual(0);
            expect(position).toBeLessThanOrEqual(text.length);
          }
        },
      ),
      runs(300),
    );
  });
});
