import { describe, expect, test } from 'vitest';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import { DeltaQueue } from '../../../runtime/working-state/delta-queue.ts';
import { pieceOf } from './delta-channel-suite.ts';

const transition = (sequence: number, type: string, to = 'PLANNING') => ({ sequence, type, to }) as StoredTransition;

/** What a reader sees before each transition, and after the last one. */
function reading(maxBytes = 100) {
  const queue = new DeltaQueue(maxBytes);
  const lines = (seen: ReturnType<DeltaQueue['take']>) =>
    [...seen].map((one) => (one.type === 'delta' ? one.text : one.type));
  return {
    push: queue.push,
    passing: (...of: Parameters<typeof transition>) => lines(queue.before(transition(...of))),
    upTo: (sequence: number) => lines(queue.take(sequence)),
  };
}

describe('the pieces that wait for a reader', () => {
  test('come after the transition that they follow, and before the next one', () => {
    const { push, passing, upTo } = reading();
    push(pieceOf('one', { from: 2, after: 2 }));
    expect([upTo(1), passing(2, 'message.enqueued'), passing(3, 'model.replied', 'IDLE')]).toEqual([[], [], ['one']]);
  });

  test('of an attempt that has ended by then come too late, and are not shown', () => {
    const { push, passing, upTo } = reading();
    push(pieceOf('one'));
    expect(passing(2, 'model.calledTools', 'EXECUTING_TOOL')).toEqual(['one']);
    push(pieceOf(' two', { at: 3 }));
    expect(passing(3, 'tool.settled')).toEqual([]);
    push(pieceOf('next', { from: 3, after: 3 }));
    expect(upTo(3)).toEqual(['next']);
  });

  test('of a holder that was taken over are void once somebody else writes', () => {
    const { push, upTo } = reading();
    push(pieceOf('old'));
    expect(upTo(1)).toEqual(['old']);
    push(pieceOf('new', { token: 2 }));
    expect(upTo(1)).toEqual(['voided', 'new']);
  });

  test('are given up beyond the bound, counted as UTF-8: what was shown is void, and the attempt shows no more', () => {
    const { push, passing, upTo } = reading(7);
    push(pieceOf('one'));
    expect(upTo(1)).toEqual(['one']);
    push(pieceOf('😀', { at: 3 }));
    push(pieceOf('😀', { at: 5 }));
    push(pieceOf('x', { at: 7 }));
    expect(upTo(1)).toEqual(['voided']);
    expect(passing(2, 'model.attemptFailed')).toEqual([]);
    push(pieceOf('again', { from: 2, after: 2 }));
    expect(upTo(2)).toEqual(['again']);
  });
});
