import { expect, test } from 'vitest';
import type { Plan } from '../../../testing/plan/plan.ts';
import { readPlan, writePlan } from '../../../testing/plan/plan-text.ts';

const plan = { ids: 1, order: 0, commands: [{ type: 'jump', ms: 2_000 } as const] };
const message = {
  type: 'message',
  session: 1,
  process: 1,
  replies: [[{ tool: 'refund', params: { order: '42' } }]],
} as const;

test('a plan is read as it was written', () => {
  const commands: Plan['commands'] = [
    ...plan.commands,
    { ...message, replies: [], isBySql: true, isFinal: true },
    { type: 'linger' },
    { type: 'fault', fault: 'stall', point: 'afterLock', occurrence: 2, isBrief: true },
    { type: 'resume', session: 1, process: 2 },
  ];
  for (const one of [plan, { ...plan, commands }]) expect(readPlan(writePlan(one), [])).toEqual(one);
});

test('a plan is read that was written before there were messages by SQL, last replies and clients that come back', () => {
  const fault = { type: 'fault', fault: 'crash', point: 'place', occurrence: 2 };
  const commands = [fault, message];
  expect(readPlan(JSON.stringify({ form: 1, ids: 1152992794, order: 0, commands }), ['refund'])).toEqual({
    ids: 1152992794,
    order: 0,
    commands,
  });
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
  [withCommand({ type: 'resume', session: 0, process: 1 }), 'at commands.1.session'],
  [withCommand({ ...message, isBySql: 1 }), 'at commands.1.isBySql'],
  [withCommand({ type: 'fault', fault: 'stall', point: 'place', occurrence: 1, isBrief: 1 }), 'at commands.1.isBrief'],
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
  expect(() => readPlan(text, ['refund'])).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(`(found ${found}`) }),
  );
});

test('a plan that asks for a tool which the check does not have is refused: it would find nothing for ever', () => {
  const text = withCommand(message);
  expect(readPlan(text, ['book', 'refund']).commands).toHaveLength(2);
  expect(() => readPlan(text, ['payBack', 'book'])).toThrow(
    expect.objectContaining({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('(found "refund", wanted one of payBack, book)'),
    }),
  );
});
