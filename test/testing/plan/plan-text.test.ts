import { expect, test } from 'vitest';
import { readPlan, writePlan } from '../../../testing/plan/plan-text.ts';

const plan = { ids: 1, order: 0, commands: [{ type: 'jump', ms: 2_000 } as const] };

test('a plan is read as it was written', () => {
  expect(readPlan(writePlan(plan))).toEqual(plan);
});

const withCommand = (command: unknown) =>
  JSON.stringify({ form: 1, ids: 1, order: 0, commands: [plan.commands[0], command] });

test.each([
  ['', 'no JSON'],
  ['{"form":1,', 'no JSON'],
  ['7', 'at its top'],
  ['null', 'at its top'],
  ['[]', 'at its top'],
  [JSON.stringify(plan), 'at form'],
  [JSON.stringify({ form: 2, ...plan }), 'at form'],
  [JSON.stringify({ form: 1, ids: 'one', order: 0, commands: [] }), 'at ids'],
  [JSON.stringify({ form: 1, ids: 1, order: -1, commands: [] }), 'at order'],
  [JSON.stringify({ form: 1, ids: 1, order: 0, commands: {} }), 'at commands'],
  [withCommand(null), 'at commands.1'],
  [withCommand({ type: 'explode' }), 'at commands.1.type'],
  [withCommand({ type: 'jump', ms: -1 }), 'at commands.1.ms'],
  [withCommand({ type: 'fault', fault: 'crash', point: 'nowhere', occurrence: 1 }), 'at commands.1.point'],
  [withCommand({ type: 'fault', fault: 'crash', point: 'place', occurrence: 0 }), 'at commands.1.occurrence'],
  [
    withCommand({ type: 'message', session: 1, process: 1, replies: [[{ params: {} }]] }),
    'at commands.1.replies.0.0.tool',
  ],
  [withCommand({ type: 'decide', which: 1, does: 'shrug' }), 'at commands.1.does'],
])('%s is refused: %s', (text, found) => {
  expect(() => readPlan(text)).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(`(found ${found}`) }),
  );
});
