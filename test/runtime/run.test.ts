import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { createRun, RunFeed } from '../../runtime/run.ts';
import type { RunEvent, RunResult } from '../../runtime/run-event.ts';

const MAX_KEPT = 10_000;

function delta(number: number): RunEvent {
  return { type: 'delta', kind: 'text', text: String(number), attempt: 1, runId: 'run-1' };
}

async function textsOf(events: AsyncIterable<RunEvent>): Promise<number[]> {
  const texts: number[] = [];
  for await (const event of events) texts.push(event.type === 'delta' ? Number(event.text) : Number.NaN);
  return texts;
}

describe('the feed of a run', () => {
  test('a subscriber that comes late gets every event from the begin on', async () => {
    const feed = new RunFeed(LIMITS.maxDeltaBytes);
    for (const number of [1, 2, 3]) feed.push(delta(number));
    feed.end();
    expect(await textsOf(feed.iterate())).toEqual([1, 2, 3]);
    expect(await textsOf(feed.iterate())).toEqual([1, 2, 3]);
  });

  test('a subscriber that waits gets events as they come, in order, and the end', async () => {
    const feed = new RunFeed(LIMITS.maxDeltaBytes);
    const [first, second] = [textsOf(feed.iterate()), textsOf(feed.iterate())];
    for (const number of [1, 2, 3, 4]) {
      feed.push(delta(number));
      if (number % 2 === 0) await Promise.resolve();
    }
    feed.end();
    expect(await Promise.all([first, second])).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
  });

  test('a run without events ends for who waits', async () => {
    const feed = new RunFeed(LIMITS.maxDeltaBytes);
    const waiting = textsOf(feed.iterate());
    feed.end();
    expect(await waiting).toEqual([]);
  });

  test('who leaves early does not hold up the others', async () => {
    const feed = new RunFeed(LIMITS.maxDeltaBytes);
    feed.push(delta(1));
    for await (const event of feed.iterate()) {
      expect(event).toEqual(delta(1));
      break;
    }
    feed.push(delta(2));
    feed.end();
    expect(await textsOf(feed.iterate())).toEqual([1, 2]);
  });

  test('memory is bounded: the oldest events are let go, those kept stay in order', async () => {
    const feed = new RunFeed(LIMITS.maxDeltaBytes);
    const slow = feed.iterate();
    feed.push(delta(0));
    expect((await slow.next()).value).toEqual(delta(0));
    for (let number = 1; number <= MAX_KEPT + 5; number += 1) feed.push(delta(number));
    feed.end();
    const late = await textsOf(feed.iterate());
    expect([late.length, late[0], late.at(-1)]).toEqual([MAX_KEPT, 6, MAX_KEPT + 5]);
    const rest = await textsOf(slow);
    expect([rest.length, rest[0]]).toEqual([MAX_KEPT, 6]);
  });
});

describe('the pieces of answers in a feed', () => {
  const text = (event: RunEvent | undefined) => (event?.type === 'delta' ? event.text : event?.type);
  const transition = { type: 'transition' } as RunEvent;

  async function all(feed: RunFeed): Promise<(string | undefined)[]> {
    const events: RunEvent[] = [];
    for await (const event of feed.iterate()) events.push(event);
    return events.map(text);
  }

  test('are kept up to a bound in bytes: the oldest pieces are let go, and no transition', async () => {
    const feed = new RunFeed(8);
    for (const event of [transition, delta(1000), transition, delta(2000), delta(3000), transition]) feed.push(event);
    feed.end();
    expect(await all(feed)).toEqual(['transition', 'transition', '2000', '3000', 'transition']);
  });

  test('count as UTF-8: one that is larger than the bound is not kept, and keeps no other from being', async () => {
    const feed = new RunFeed(8);
    feed.push({ ...delta(0), text: '😀😀😀' } as RunEvent);
    feed.push(delta(12345678));
    feed.end();
    expect(await all(feed)).toEqual(['12345678']);
  });

  test('reach who reads along, however many there are', async () => {
    const feed = new RunFeed(8);
    const reader = feed.iterate();
    for (let number = 1000; number < 1100; number += 1) {
      feed.push(delta(number));
      expect(text((await reader.next()).value as RunEvent)).toBe(String(number));
    }
    feed.end();
    expect(await all(feed)).toEqual(['1098', '1099']);
  });

  test('are let go in order also where events are', async () => {
    const feed = new RunFeed(8);
    for (let number = 0; number <= MAX_KEPT + 5; number += 1) feed.push(number % 2 === 0 ? transition : delta(number));
    feed.end();
    const kept = await all(feed);
    expect(kept.filter((one) => one === 'transition')).toHaveLength(MAX_KEPT / 2);
    expect(kept.filter((one) => one !== 'transition')).toEqual([String(MAX_KEPT + 5)]);
  });
});

describe('a run', () => {
  const facts = { runId: 'run-1', sessionId: 'session-1', repeated: false };

  test('gives its result to everybody who asks', async () => {
    const result = { runId: 'run-1' } as RunResult;
    const run = createRun(facts, new RunFeed(LIMITS.maxDeltaBytes), Promise.resolve(result));
    expect(await Promise.all([run.result(), run.result()])).toEqual([result, result]);
    expect(run).toMatchObject(facts);
  });

  test('an error reaches who asks for the result; nobody asking is no unhandled rejection', async () => {
    const run = createRun(facts, new RunFeed(LIMITS.maxDeltaBytes), Promise.reject(new Error('away')));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(run.result()).rejects.toThrow('away');
  });

  test('can be iterated more than once', async () => {
    const feed = new RunFeed(LIMITS.maxDeltaBytes);
    feed.push(delta(1));
    feed.end();
    const run = createRun(facts, feed, Promise.resolve({} as RunResult));
    expect([await textsOf(run), await textsOf(run)]).toEqual([[1], [1]]);
  });
});
