import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginFold, endFold, foldTransitions } from '../../machines/fold-transitions.ts';
import { isLegalTransition } from '../../machines/legal-graph.ts';
import type { OpenCall } from '../../machines/open-calls.ts';
import { type Effect, pendingEffects } from '../../machines/pending-effects.ts';
import { SESSION_MACHINE_VERSION } from '../../machines/session.machine.ts';
import { recordedEvent } from '../../machines/session-event.ts';
import { decodeSnapshot, encodeSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';
import { describeProperties, runs } from '../support/property.ts';
import { walk } from './random-events.ts';
import { rowsOf } from './rows-of.ts';
import { type Place, SessionModel } from './session-model.ts';
import { walkOf } from './walk-of.ts';

describeProperties('any sequence of events', () => {
  test('the machine takes what the model takes, and both tell the same story', () => {
    fc.assert(
      fc.property(walk, (steps) => {
        for (const { before, event, after, model, taken } of walkOf(steps)) {
          expect(after !== null, `${event.type} in ${before.value}`).toBe(taken);
          const snapshot = after ?? before;
          expect(storyOf(snapshot)).toEqual(storyOf(model));
          expect(effectsOf(snapshot)).toEqual(model.phase === 'calls' ? startsOf(model) : modelCallOf(model));
          if (after !== null) expect(isLegalTransition(before.value, after.value)).toBe(true);
        }
      }),
      runs(250),
    );
  });

  test('no call is lost: once its turn is closed, each has exactly one answer, and none has one before', () => {
    fc.assert(
      fc.property(walk, (steps) => {
        for (const { after, model } of walkOf(steps)) {
          if (after === null) continue;
          const open = after.context.calls.reduce((sum, call) => sum + call.ordinals.length, 0);
          expect(model.asked - model.answered).toBe(open);
          if (after.value === 'IDLE' || after.value === 'FAILED' || after.value === 'PLANNING') expect(open).toBe(0);
        }
      }),
      runs(100),
    );
  });

  test('COMPLETED is final: nothing at all is taken', () => {
    fc.assert(
      fc.property(walk, (steps) => {
        let wasCompleted = false;
        for (const { before, after } of walkOf(steps)) {
          wasCompleted ||= before.value === 'COMPLETED';
          if (wasCompleted) expect(after).toBeNull();
        }
      }),
      runs(100),
    );
  });

  test('every snapshot survives its row', () => {
    fc.assert(
      fc.property(walk, (steps) => {
        for (const { after } of walkOf(steps)) {
          if (after === null) continue;
          const snapshot = JSON.parse(JSON.stringify(encodeSnapshot(after)));
          const row = { machineId: 'session', machineVersion: 1, currentState: after.value, snapshot };
          expect(encodeSnapshot(decodeSnapshot(row))).toEqual(encodeSnapshot(after));
        }
      }),
      runs(100),
    );
  });

  test('a fold of the recorded events, which hold no contents, repeats every snapshot', () => {
    fc.assert(
      fc.property(walk, (steps) => {
        let fold = beginFold(SESSION_MACHINE_VERSION);
        for (const { before, event, after } of walkOf(steps)) {
          if (after === null) continue;
          const recorded = JSON.parse(JSON.stringify(recordedEvent(event)));
          expect(JSON.stringify(recorded)).not.toContain('"content"');
          // Nothing leads to the version with which the fold begins.
          if (event.type === 'machine.upgraded') continue;
          const row = { sequence: 1, from: before.value, to: after.value, type: event.type, event: recorded };
          fold = foldTransitions(fold, [row]);
          expect(endFold(fold, { machineVersion: 1, snapshot: encodeSnapshot(after) }).findings).toEqual([]);
        }
      }),
      runs(100),
    );
  });
});

function storyOf(from: SessionSnapshot | SessionModel) {
  if (from instanceof SessionModel) {
    const { state, turns, runId, modelCalls, failedModelAttempts } = from;
    const calls = from.calls.map((call) => [call, from.placeOf(call), from.attempts.get(call), from.copies.get(call)]);
    return { state, turns, runId, modelCalls, failedModelAttempts, calls };
  }
  const { nextTurnIndex: turns, runId, modelCalls, failedModelAttempts } = from.context;
  const calls = from.context.calls.map((call) => [call.executionId, placeOf(call), call.attempt, call.ordinals.length]);
  return { state: from.value, turns, runId, modelCalls, failedModelAttempts, calls };
}

function placeOf({ status, waitsFor, unknownReason, runAgain }: OpenCall): Place {
  if (status === 'SUCCESS' || status === 'FAILED') return 'done';
  if (status === 'TIMED_OUT') return 'gaveUp';
  if (status === 'PENDING') return waitsFor ?? 'queued';
  if (unknownReason === null) return runAgain ? 'retrying' : 'running';
  return runAgain ? 'again' : 'unknown';
}

function effectsOf(snapshot: SessionSnapshot): unknown[] {
  return pendingEffects(snapshot, rowsOf(snapshot)).map((effect: Effect) =>
    effect.type === 'callModel' ? effect : [effect.type, effect.executionId, effect.attempt],
  );
}

function modelCallOf({ phase, runId, failedModelAttempts }: SessionModel): unknown[] {
  return phase === 'model' ? [{ type: 'callModel', runId, attempt: failedModelAttempts + 1 }] : [];
}

function startsOf(model: SessionModel): unknown[] {
  return model.calls.flatMap((call) => {
    const attempt = model.attempts.get(call) ?? 0;
    const place = model.placeOf(call);
    if (place === 'running') return [['runAttempt', call, attempt]];
    const mayStart = place === 'retrying' || ((place === 'queued' || place === 'again') && !model.somebodyIsAsked);
    return mayStart ? [['startExecution', call, attempt + 1]] : [];
  });
}
