import { expect, test } from 'vitest';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { readFaults, writeFaults } from '../../../testing/faults/fault-text.ts';

test('a text says what happens, where and at which passage', () => {
  expect(readFaults("crash at commitSent #2; stall at 'after the bank'; timeout at afterStatement #3")).toEqual([
    { point: 'commitSent', occurrence: 2, fault: 'crash' },
    { point: 'place', place: 'after the bank', occurrence: 1, fault: 'stall' },
    { point: 'afterStatement', occurrence: 3, fault: 'timeout' },
  ]);
  expect(readFaults("\n disconnect  at\t'the bank''s' #1 ")).toEqual([
    { point: 'place', place: "the bank's", occurrence: 1, fault: 'disconnect' },
  ]);
  expect(readFaults(' ')).toEqual([]);
});

test('faults are written in their shortest form', () => {
  expect(writeFaults([])).toBe('');
  expect(
    writeFaults([
      { point: 'any', fault: 'crash' },
      { point: 'place', place: "the bank's", occurrence: 2, fault: 'stall' },
    ]),
  ).toBe("crash at any; stall at 'the bank''s' #2");
});

test.each([
  ['crsh at place', 0, '"crsh"'],
  ['crash on place', 6, '"on"'],
  ['crash at  nowhere', 10, '"nowhere"'],
  ["crash at 'open", 9, '"\'open"'],
  ['crash at place #0', 15, '"#0"'],
  ['crash at place #1.5', 17, '".5"'],
  ['crash at place # 2', 15, '"# 2"'],
  ['crash at place 2', 15, '"2"'],
  ['crash at place #2 #3', 18, '"#3"'],
  ['crash at place;', 15, 'the end'],
  ['; crash at place', 0, '";"'],
  ['crash at place, stall at place', 14, '", stall at p"'],
  ['crash', 5, 'the end'],
  ['crash at', 8, 'the end'],
  ["'crash' at place", 0, '"\'crash\'"'],
])('%j is refused at position %i', (text, position, found) => {
  expect(() => readFaults(text)).toThrow(
    expect.objectContaining({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(`at position ${position} (found ${found}, wanted`),
      details: { position },
    }),
  );
});

test('what is no text, and a fault with a function, are refused', () => {
  const refused = expect.objectContaining({ code: 'OPTIONS_INVALID' });
  expect(() => readFaults(7 as never)).toThrow(refused);
  expect(() => writeFaults([{ point: 'any', fault: () => undefined }])).toThrow(refused);
  expect(() => writeFaults([{ point: 'any', occurrence: 0, fault: 'crash' }])).toThrow(refused);
  expect(() => writeFaults([{ point: 'any', where: () => true, fault: 'crash' }])).toThrow(refused);
});

test('a fault at a named place counts the passages of that place alone', async () => {
  const plan = new FaultPlan(readFaults("timeout at 'the bank' #2"));
  await plan.place('the bank');
  await plan.place('the post office');
  await plan.place('the post office');
  await expect(plan.place('the bank')).rejects.toMatchObject({ code: 'NO_ANSWER' });
});
