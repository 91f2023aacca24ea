import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DeltaChannel, DeltaMessage, DeltaPiece, DeltaTopic } from '../../../index.ts';

/** Two ends of one channel, as two processes have them; `carried` resolves when everything that was published has arrived. */
export interface ChannelEnds {
  here: DeltaChannel;
  there: DeltaChannel;
  carried(): Promise<void>;
  /** How many subscriptions it holds. */
  held?(): number;
}

export const topic = (): DeltaTopic => ({ tenantId: 'tenant', sessionId: randomUUID() });

/** A piece at the begin of the first attempt, unless told otherwise. */
export function pieceOf(text: string, more: Partial<DeltaPiece> = {}): DeltaPiece {
  return { type: 'piece', kind: 'text', text, runId: 'run', attempt: 1, token: 1, from: 1, after: 1, at: 0, ...more };
}

/** What holds for every channel. */
export function deltaChannelSuite(open: () => ChannelEnds): void {
  async function subscribed(channel: DeltaChannel, of: DeltaTopic) {
    const messages: DeltaMessage[] = [];
    const unsubscribe = await channel.subscribe(of, (message) => messages.push(message));
    return { messages, unsubscribe };
  }

  test('hands messages of a topic to every subscriber, in every process, in order', async () => {
    const { here, there, carried } = open();
    const of = topic();
    const readers = [await subscribed(here, of), await subscribed(here, of), await subscribed(there, of)];
    const sent: DeltaMessage[] = [pieceOf('one'), { type: 'asked' }, pieceOf('two', { at: 3, kind: 'reasoning' })];
    for (const message of sent) await here.publish(of, message);
    await carried();
    for (const { messages } of readers) expect(messages).toEqual(sent);
  });

  test('tells sessions and tenants apart', async () => {
    const { here, there, carried } = open();
    const of = topic();
    const other = await subscribed(there, topic());
    const otherTenant = await subscribed(there, { ...of, tenantId: 'other' });
    await here.publish(of, pieceOf('secret'));
    await carried();
    expect([...other.messages, ...otherTenant.messages]).toEqual([]);
  });

  test('tells nobody of what came before, nor of what comes after the subscription', async () => {
    const { here, there, carried } = open();
    const of = topic();
    await here.publish(of, pieceOf('before'));
    await carried();
    const { messages, unsubscribe } = await subscribed(there, of);
    await here.publish(of, pieceOf('while'));
    await carried();
    await unsubscribe();
    await here.publish(of, pieceOf('after'));
    await carried();
    expect(messages).toEqual([pieceOf('while')]);
  });

  test('one that leaves takes nobody along, and may leave twice', async () => {
    const { here, there, carried, held } = open();
    const of = topic();
    const [first, second] = [await subscribed(there, of), await subscribed(there, of)];
    await first.unsubscribe();
    await first.unsubscribe();
    await here.publish(of, pieceOf('on'));
    await carried();
    expect([first.messages, second.messages]).toEqual([[], [pieceOf('on')]]);
    await second.unsubscribe();
    expect(held?.() ?? 0).toBe(0);
  });

  test('the same function may listen twice, and leave once', async () => {
    const { here, carried } = open();
    const of = topic();
    const messages: DeltaMessage[] = [];
    const listener = (message: DeltaMessage) => void messages.push(message);
    const leave = await here.subscribe(of, listener);
    await here.subscribe(of, listener);
    await leave();
    await here.publish(of, pieceOf('once'));
    await carried();
    expect(messages).toHaveLength(1);
  });

  test('a listener may leave, and another come, while a message is handed over', async () => {
    const { here, carried } = open();
    const of = topic();
    const seen: string[] = [];
    const leave = await here.subscribe(of, () => {
      seen.push('first');
      void leave();
      void here.subscribe(of, () => seen.push('late'));
    });
    await here.subscribe(of, () => seen.push('second'));
    await here.publish(of, pieceOf('one'));
    await carried();
    expect(seen).toEqual(['first', 'second']);
  });

  test('carries every text', async () => {
    const { here, there, carried } = open();
    const of = topic();
    const { messages } = await subscribed(there, of);
    const sent = ['\u0000', '\ud83d', '\ude00', '"\\\n', 'é 😀', 'x'.repeat(300_000)].map((text) => pieceOf(text));
    for (const message of sent) await here.publish(of, message);
    await carried();
    expect(messages).toEqual(sent);
  });
}
