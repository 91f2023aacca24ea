import { expect, test } from 'vitest';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';

test('of a process that goes on and on the newest passages are kept, and every one counts', async () => {
  const plan = new FaultPlan([{ point: 'place', place: 'the last', occurrence: 2, fault: 'disconnect' }]);
  await plan.place('the last');
  for (let passed = 0; passed < 120_000; passed += 1) plan.faultPoint('beforeHeartbeat', {});
  await expect(plan.place('the last')).rejects.toMatchObject({ code: 'NO_ANSWER' });
  expect(plan.passages.length).toBeGreaterThanOrEqual(50_000);
  expect(plan.passages.length).toBeLessThanOrEqual(100_000);
  expect(plan.passages.at(-1)).toEqual({ point: 'place', place: 'the last' });
});
