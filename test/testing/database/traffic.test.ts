import { expect, test } from 'vitest';
import { Traffic } from '../../../testing/database/traffic.ts';

test('what is begun is under way until it comes to its end, in whichever way', async () => {
  const traffic = new Traffic();
  const end = traffic.begin({ backend: 1 });
  traffic.during({ backend: 2 }, Promise.reject(new Error('refused')));
  expect(traffic.backends).toEqual([1, 2]);
  expect(await traffic.endsWithin(60_000)).toBe(true);
  expect(traffic.backends).toEqual([1]);
  end();
  end();
  expect({ isUnderWay: traffic.isUnderWay, ended: traffic.ended }).toEqual({ isUnderWay: false, ended: 2 });
});

test('what has no process of the server is told from statements', () => {
  const traffic = new Traffic();
  traffic.begin({ backend: 1 });
  traffic.begin({ backend: null });
  expect(traffic.backends).toBeNull();
});

test('where nothing comes to its end nobody waits for ever', async () => {
  const traffic = new Traffic();
  traffic.begin({ backend: 1 });
  expect(await traffic.endsWithin(1)).toBe(false);
});
