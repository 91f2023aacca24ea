import { gate } from '../../support/runtime-script.ts';
import { type Stage, writeAct } from './agents.ts';
import { AFTER_ACT } from './places.ts';
import type { SimulatedProcesses } from './simulated-process.ts';

/** What happened outside of the runtimes for one call, whoever did it. It outlives every process, and knows no keys. */
export class Outside {
  /** The keys of the acts, in order. Those of a transactional tool are rows of the database instead. */
  readonly acts: string[] = [];
  /** How often a transactional tool has written, rolled back or not. */
  writes = 0;
  /** What its tool said when it was asked whether it had acted. */
  readonly answers: ('done' | 'not done')[] = [];
  /** Opens once the first act is done. */
  readonly acted = gate();
  /** The first call of its tool returns once this is open. */
  readonly mayReturn = gate();
  calls = 0;
}

/** The outside world of all cells, by their names. What acts within a simulated process passes its fault points. */
export function stageOf(outsides: ReadonlyMap<string, Outside>, processes: SimulatedProcesses): Stage {
  return {
    noteAnswer: () => processes.present?.noteAnswer(),
    async act(effect, cell, context) {
      const outside = outsides.get(cell)!;
      outside.calls += 1;
      const isFirst = outside.calls === 1;
      if (effect === 'transactional') {
        await writeAct(cell, context);
        outside.writes += 1;
      } else {
        outside.acts.push(context.idempotencyKey);
      }
      const process = processes.present;
      if (process === undefined || !isFirst) return;
      const { sessionId, executionId } = context;
      await process.faultPoint('insideEffect', { sessionId, executionId, detail: AFTER_ACT });
      outside.acted.open();
      await outside.mayReturn.opened;
      await process.plan.alive();
    },
    hasActed(cell, { idempotencyKey }) {
      const { acts, answers } = outsides.get(cell)!;
      const hasActed = acts.includes(idempotencyKey);
      answers.push(hasActed ? 'done' : 'not done');
      return hasActed;
    },
  };
}
