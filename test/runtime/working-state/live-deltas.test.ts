import { describe, expect, test, vi } from 'vitest';
import { type DeltaChannel, type DeltaMessage, type DeltaPiece, inProcessDeltas } from '../../../index.ts';
import type { WrittenDelta } from '../../../runtime/working-state/answer-writer.ts';
import { LiveDeltas } from '../../../runtime/working-state/live-deltas.ts';
import { carriedDeltas } from './carried-deltas.ts';
import { countedDeltas } from './counted-deltas.ts';
import { pieceOf, topic } from './delta-channel-suite.ts';

const MAX = 20;

function said(text: string, more: Partial<WrittenDelta> = {}): WrittenDelta {
  return { kind: 'text', text, runId: 'run', attempt: 1, token: 1, after: 1, ...more };
}

function open(channel: DeltaChannel = inProcessDeltas(), maxBytes = MAX) {
  const failures: unknown[] = [];
  const deltas = new LiveDeltas({ channel, onFailed: (error) => failures.push(error) }, maxBytes);
  const of = topic();
  const watch = (on: LiveDeltas = deltas) => {
    const pieces: DeltaPiece[] = [];
    const leave = on.watch(of, (piece) => pieces.push(piece));
    return { pieces, leave, text: () => pieces.map(({ text }) => text).join('') };
  };
  return { deltas, of, watch, failures, channel };
}

describe('pieces of answers within a process', () => {
  test('reach who watches at once, and who comes late from the begin of the attempt on', () => {
    const { deltas, of, watch } = open();
    const early = watch();
    deltas.show(of, said('Re'));
    expect(early.text()).toBe('Re');
    deltas.show(of, said('fund'));
    deltas.show(of, said('ed', { kind: 'reasoning' }));
    const late = watch();
    expect(late.pieces.map(({ kind, text }) => [kind, text])).toEqual([
      ['text', 'Refund'],
      ['reasoning', 'ed'],
    ]);
    deltas.show(of, said('!'));
    expect([early.text(), late.text()]).toEqual(['Refunded!', 'Refunded!']);
    expect(early.pieces.map(({ text }) => text)).toEqual(['Re', 'fund', 'ed', '!']);
  });

  test('do not trouble the model that writes them where a channel gives back something that is hardly a promise', () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise of a library, of which not more is known.
    const never = { then: () => undefined } as unknown as Promise<void>;
    const { deltas, of } = open({ publish: () => never, subscribe: () => () => undefined });
    expect(() => deltas.show(of, said('Re'))).not.toThrow();
  });

  test('are of no session but their own', () => {
    const { deltas, watch } = open();
    const { text } = watch();
    deltas.show(topic(), said('secret'));
    expect(text()).toBe('');
  });

  test('end with their attempt: who comes later sees the next one alone', () => {
    const { deltas, of, watch } = open();
    deltas.show(of, said('wrong'));
    deltas.endAttempt(of.sessionId);
    expect(watch().text()).toBe('');
    deltas.show(of, said('right', { attempt: 2, after: 2 }));
    expect(watch().pieces).toMatchObject([{ text: 'right', attempt: 2, from: 2, at: 0 }]);
    deltas.show(of, said('other run', { runId: 'next', after: 5, token: 2 }));
    expect(watch().pieces).toMatchObject([{ text: 'other run', from: 5, token: 2, at: 0 }]);
  });

  test('stop for who leaves', () => {
    const { deltas, of, watch } = open();
    const { text, leave } = watch();
    leave();
    deltas.show(of, said('more'));
    expect(text()).toBe('');
  });

  test('are kept up to the bound: of a longer attempt who comes late sees nothing, and who watches all of it', () => {
    const { deltas, of, watch } = open();
    const early = watch();
    deltas.show(of, said('x'.repeat(MAX)));
    expect(watch().text()).toHaveLength(MAX);
    deltas.show(of, said('😀'));
    expect([early.text(), watch().text()]).toEqual([`${'x'.repeat(MAX)}😀`, '']);
    deltas.show(of, said('on'));
    expect([early.text().endsWith('😀on'), watch().text()]).toEqual([true, '']);
    deltas.endAttempt(of.sessionId);
    deltas.show(of, said('next', { after: 2 }));
    expect(watch().text()).toBe('next');
  });

  test('leave nothing behind', () => {
    const { channel, held } = countedDeltas();
    const { deltas, of, watch } = open(channel);
    const { leave } = watch();
    deltas.show(of, said('text'));
    expect([deltas.size, held()]).toEqual([1, 2]);
    deltas.end(of.sessionId);
    leave();
    expect([deltas.size, held()]).toEqual([0, 0]);
    deltas.end(of.sessionId);
    expect(watch().text()).toBe('');
  });
});

describe('pieces of answers that travel', () => {
  test('reach another process, from the begin of the attempt on', async () => {
    const { here, there, carried, held } = carriedDeltas();
    const { deltas, of, watch } = open(here);
    const elsewhere = open(there).deltas;
    const early = watch(elsewhere);
    await carried();
    deltas.show(of, said('It '));
    deltas.show(of, said('is '));
    await carried();
    const late = watch(elsewhere);
    await carried();
    deltas.show(of, said('done'));
    await carried();
    expect([early.text(), late.text()]).toEqual(['It is done', 'It is done']);
    for (const { leave } of [early, late]) leave();
    deltas.end(of.sessionId);
    await carried();
    expect(held?.()).toBe(0);
  });

  test('become fewer while the channel is busy, and lose nothing', async () => {
    const { here, carried } = carriedDeltas();
    const publish = vi.spyOn(here, 'publish');
    const { deltas, of, watch } = open(here);
    const { text } = watch();
    await carried();
    publish.mockClear();
    for (const piece of ['a', 'b', 'c', 'd']) deltas.show(of, said(piece));
    await carried();
    expect(text()).toBe('abcd');
    expect(publish.mock.calls.map(([, message]) => (message as DeltaPiece).text)).toEqual(['a', 'bcd']);
  });

  test('go no further where more than the bound waits for the channel; the next attempt does', async () => {
    const { here, carried } = carriedDeltas();
    const { deltas, of, watch } = open(here);
    const { text, pieces } = watch();
    await carried();
    deltas.show(of, said('begin'));
    for (let piece = 0; piece < 10; piece += 1) deltas.show(of, said('xxxx'));
    await carried();
    expect(text()).toBe('begin');
    deltas.endAttempt(of.sessionId);
    deltas.show(of, said('next', { after: 2 }));
    await carried();
    expect(pieces.at(-1)?.text).toBe('next');
  });

  test('a reader who left before its subscription began is left by it', async () => {
    const { here, carried, held } = carriedDeltas();
    const { watch } = open(here);
    watch().leave();
    await carried();
    expect(held?.()).toBe(0);
  });
});

describe('what comes over a channel', () => {
  /** A reader, and a way to hand it messages as another process would. */
  function reading() {
    const { of, watch, channel } = open();
    const asked: DeltaMessage[] = [];
    const reader = watch();
    void channel.subscribe(of, (message) => message?.type === 'asked' && asked.push(message));
    return { ...reader, asked, hand: (message: unknown) => void channel.publish(of, message as DeltaMessage) };
  }

  test('what is told twice is seen once, also where it overlaps', () => {
    const { text, hand } = reading();
    for (const piece of [pieceOf('abc'), pieceOf('abc'), pieceOf('bcd', { at: 1 }), pieceOf('de', { at: 3 })])
      hand(piece);
    expect(text()).toBe('abcde');
  });

  test('where something is missing it is asked for once, and nothing is shown until it has come', () => {
    const { text, hand, asked } = reading();
    hand(pieceOf('ab'));
    hand(pieceOf('ef', { at: 4 }));
    hand(pieceOf('gh', { at: 6 }));
    expect([text(), asked.length]).toEqual(['ab', 1]);
    hand(pieceOf('abcdefgh'));
    hand(pieceOf('i', { at: 8 }));
    expect(text()).toBe('abcdefghi');
  });

  test('nothing of a holder that was taken over, nor of an attempt that another one has followed', () => {
    const { text, hand } = reading();
    hand(pieceOf('old '));
    hand(pieceOf('new ', { token: 2, from: 3 }));
    hand(pieceOf('holder', { at: 4 }));
    hand(pieceOf('later ', { token: 2, from: 6 }));
    hand(pieceOf('attempt', { token: 2, from: 3, at: 4 }));
    expect(text()).toBe('old new later ');
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'piece'],
    ['another type', { type: 'done' }],
    ['no text', { ...pieceOf(''), text: 7 }],
    ['another kind', { ...pieceOf('x'), kind: 'image' }],
    ['no run', { ...pieceOf('x'), runId: null }],
    ['a place below 0', pieceOf('x', { at: -1 })],
    ['half a place', pieceOf('x', { after: 1.5 })],
    ['no attempt', { ...pieceOf('x'), attempt: undefined }],
    ['a token that is no number', { ...pieceOf('x'), token: '1' }],
    ['no begin', { ...pieceOf('x'), from: Number.NaN }],
  ])('is passed over when it is no message: %s', (_, message) => {
    const { text, hand } = reading();
    hand(message);
    hand(pieceOf('fine'));
    expect(text()).toBe('fine');
  });
});

describe('a channel that fails', () => {
  const thrown = new Error('broker is away');
  const failing = (how: () => never | Promise<never>): DeltaChannel => ({ publish: how, subscribe: how });

  test.each<[string, () => never | Promise<never>]>([
    [
      'at once',
      () => {
        throw thrown;
      },
    ],
    ['later', () => Promise.reject(thrown)],
  ])('%s harms nobody, and is told', async (_, how) => {
    const { deltas, of, watch, failures } = open(failing(how));
    const { text, leave } = watch();
    deltas.show(of, said('text'));
    deltas.endAttempt(of.sessionId);
    leave();
    deltas.end(of.sessionId);
    await vi.waitFor(() => expect(failures.length).toBeGreaterThanOrEqual(2));
    expect(new Set(failures)).toEqual(new Set([thrown]));
    expect([text(), deltas.size]).toEqual(['', 0]);
  });

  test('when somebody leaves it harms nobody either', async () => {
    const channel: DeltaChannel = { publish: () => undefined, subscribe: () => () => Promise.reject(thrown) };
    const { watch, failures } = open(channel);
    watch().leave();
    await vi.waitFor(() => expect(failures).toEqual([thrown]));
  });
});
