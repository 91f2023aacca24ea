import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultKind } from '../../../testing/faults/fault-plan.ts';
import { describeProperties, runs } from '../../support/property.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { type Played, play } from './play.ts';
import type { Strike } from './process.ts';
import { scenario } from './scenario.ts';

/** Where on the way of the calm run faults strike, in thousandths of it. */
const places = fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 3 });

function strikesAt(thousandths: readonly number[], calm: Played, fault: FaultKind): Strike[] {
  const passages = calm.passagesFor(fault);
  return thousandths.map((place) => ({ passage: 1 + Math.floor((place / 1_000) * passages), fault }));
}

/** What a call says that failed after an attempt whose process was lost, and which may have acted. */
const DOUBT =
  /^(?:The outcome of this call is unknown: .* )?An attempt before it may have acted: .* Attempt \d+ failed: (.*)$/s;

/**
 * A failure after an attempt that was lost leaves the outcome unknown, which no undisturbed run says: here as the failure that it was. What only
 * looks is never in doubt.
 */
function withoutDoubt({ state, turns, executions }: Played['facts']): Played['facts'] {
  const failureIn = (text: unknown) => DOUBT.exec(String(text ?? ''))?.[1];
  return {
    state,
    turns: turns.map((turn) => {
      const failure = failureIn(turn.content);
      if (failure === undefined) return turn;
      const parts = turn.parts.map((part) => ({ ...part, outcome: 'failed' }));
      return { ...turn, content: `The call failed: ${failure}`, parts };
    }),
    executions: executions.map((row) => {
      const isDoubted = row.status === 'TIMED_OUT' && row.tool_name !== 'look';
      const failure = isDoubted ? failureIn(row.error_message) : undefined;
      return failure === undefined ? row : { ...row, status: 'FAILED', error_message: failure };
    }),
  };
}

/** The same story, told of the database and of the world. */
function expectSameStory(rough: Played, calm: Played): void {
  expect(rough.losses === 0 ? rough.facts : withoutDoubt(rough.facts)).toEqual(calm.facts);
  expect(rough.world.distinctActs()).toEqual(calm.world.distinctActs());
  for (const count of rough.world.countsOf('charge')) expect(count).toBe(1);
  for (const tool of ['look', 'note', 'each']) {
    for (const count of rough.world.countsOf(tool)) expect(count).toBeLessThanOrEqual(1 + rough.losses);
  }
}

/** However it is disturbed, a run ends as it does undisturbed. `share` of the usual number of runs. */
export const describeCrashes =
  (share: number): RuntimeSuite =>
  (database) => {
    describeProperties('any run', () => {
      test('ends as the one that never dies, however often its process dies and wherever', async () => {
        await fc.assert(
          fc.asyncProperty(scenario, places, async (script, deaths) => {
            const calm = await play(database(), script, []);
            const lives = strikesAt(deaths, calm, 'crash').map((strike) => [strike]);
            expectSameStory(await play(database(), script, lives), calm);
          }),
          runs(12 * share),
        );
      });

      test('ends as the undisturbed one, without help, whatever connections it loses and statements time out', async () => {
        await fc.assert(
          fc.asyncProperty(scenario, places, places, async (script, losses, timeouts) => {
            const calm = await play(database(), script, []);
            const strikes = [...strikesAt(losses, calm, 'disconnect'), ...strikesAt(timeouts, calm, 'timeout')];
            const rough = await play(database(), script, [strikes]);
            expect(rough.losses).toBe(0);
            expectSameStory(rough, calm);
          }),
          runs(8 * share),
        );
      });

      test('ends as the undisturbed one when its process is paused past its lease and comes back', async () => {
        await fc.assert(
          fc.asyncProperty(scenario, places, async (script, pauses) => {
            const calm = await play(database(), script, []);
            const lives = strikesAt(pauses, calm, 'stall').map((strike) => [strike]);
            expectSameStory(await play(database(), script, lives), calm);
          }),
          runs(8 * share),
        );
      });
    });
  };
