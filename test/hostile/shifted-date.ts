/** Loaded before a program (`node --import`): its host's clock is off by TURNLOCK_TEST_SHIFT_MS milliseconds. */

const RealDate = Date;
const shiftMs = Number(process.env.TURNLOCK_TEST_SHIFT_MS);

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [ShiftedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
