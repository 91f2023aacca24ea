import { describe, expect, test } from 'vitest';
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
    const feed = new RunFeed();
    for (const number of [1, 2, 3]) feed.push(delta(number));
    feed.end();
    expect(await textsOf(feed.iterate())).toEqual([1, 2, 3]);
    expect(await textsOf(feed.iterate())).toEqual([1, 2, 3]);
  });

  test('a subscriber that waits gets events as they come, in order, and the end', async () => {
    const feed = new RunFeed();
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
    const feed = new RunFeed();
    const waiting = textsOf(feed.iterate());
    feed.end();
    expect(await waiting).toEqual([]);
  });

  test('who leaves early does not hold up the others', async () => {
    const feed = new RunFeed();
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
    const feed = new RunFeed();
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

describe('a run', () => {
  const facts = { runId: 'run-1', sessionId: 'session-1', repeated: false };

  test('gives its result to everybody who asks', async () => {
    const result = { runId: 'run-1' } as RunResult;
    const run = createRun(facts, new RunFeed(), Promise.resolve(result));
    expect(await Promise.all([run.result(), run.result()])).toEqual([result, result]);
    expect(run).toMatchObject(facts);
  });

  test('an error reaches who asks for the result; nobody asking is no unhandled rejection', async () => {
    const run = createRun(facts, new RunFeed(), Promise.reject(new Error('away')));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(run.result()).rejects.toThrow('away');
  });

  test('can be iterated more than once', async () => {
    const feed = new RunFeed();
    feed.push(delta(1));
    feed.end();
    const run = createRun(facts, feed, Promise.resolve({} as RunResult));
    expect([await textsOf(run), await textsOf(run)]).toEqual([[1], [1]]);
  });
});
