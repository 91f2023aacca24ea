import fc from 'fast-check';

/** One tool call of a scripted answer. `n` tells params apart: equal ones make identical calls. */
export interface ScriptedCall {
  tool: 'look' | 'note' | 'each' | 'charge' | 'ghost';
  n: number;
  /** The tool acts, then throws. */
  fails: boolean;
  /** Turns of the event loop that the act takes. */
  ticks: number;
}

/** One answer of the scripted model. Without calls it ends the run. */
export interface ScriptedAnswer {
  calls: ScriptedCall[];
  /** The model's first attempt at this answer fails. */
  stumbles: boolean;
}

/** A whole session: for each user message the answers of its run; the last one, a plain reply, is implied. */
export interface Scenario {
  runs: ScriptedAnswer[][];
  maxParallelTools: number;
}

const scriptedCall: fc.Arbitrary<ScriptedCall> = fc.record({
  tool: fc.constantFrom<ScriptedCall['tool']>('look', 'note', 'each', 'charge', 'charge', 'ghost'),
  n: fc.integer({ min: 1, max: 2 }),
  fails: fc.boolean().map((fails) => fails),
  ticks: fc.integer({ min: 0, max: 2 }),
});

const scriptedAnswer: fc.Arbitrary<ScriptedAnswer> = fc.record({
  calls: fc.array(scriptedCall, { minLength: 1, maxLength: 4 }),
  stumbles: fc.boolean(),
});

/** Sessions of one or two runs with up to two answers that call tools. */
export const scenario: fc.Arbitrary<Scenario> = fc.record({
  runs: fc.array(fc.array(scriptedAnswer, { maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  maxParallelTools: fc.integer({ min: 1, max: 3 }),
});
