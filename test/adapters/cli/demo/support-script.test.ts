import { expect, test } from 'vitest';
import { supportScript } from '../../../../adapters/cli/demo/support-script.ts';
import type { ModelRequest, ModelTurn, ToolOutcome } from '../../../../adapters/models/model.contract.ts';

let turnIndex = 0;

function turn(role: ModelTurn['role'], text = '', answers?: { toolName: string; outcome: ToolOutcome }): ModelTurn {
  turnIndex += 1;
  const answered = answers && { ordinal: 0, providerCallId: null, ...answers };
  return { turnIndex, role, text, parts: [], ...(answered ? { answers: answered } : {}) };
}

const looked = [
  turn('user', 'Order 43 arrived broken.'),
  turn('assistant'),
  turn('tool', '{"cents":3150}', { toolName: 'lookUpOrder', outcome: 'succeeded' }),
  turn('tool', '{}', { toolName: 'checkPolicy', outcome: 'succeeded' }),
];

function refunded(outcome: ToolOutcome, text = '{"refundId":"R-1"}'): ModelTurn[] {
  return [...looked, turn('assistant'), turn('tool', text, { toolName: 'refund', outcome })];
}

function say(turns: ModelTurn[]) {
  return supportScript({ turns } as ModelRequest);
}

test('it looks, refunds what the order cost, tells the customer, and is done', () => {
  expect(say(looked.slice(0, 1)).toolCalls?.map(({ toolName }) => toolName)).toEqual(['lookUpOrder', 'checkPolicy']);
  expect(say(looked).toolCalls).toEqual([{ toolName: 'refund', input: { orderId: '43', cents: 3_150 } }]);
  const told = refunded('succeeded');
  expect(say(told).toolCalls).toMatchObject([{ toolName: 'notifyCustomer', input: { orderId: '43' } }]);
  const done = [...told, turn('assistant'), turn('tool', '{}', { toolName: 'notifyCustomer', outcome: 'succeeded' })];
  expect(say(done)).toEqual({ text: 'Done: 31.50 EUR, refund R-1. Sorry again for the trouble.' });
});

test.each<[ToolOutcome]>([['failed'], ['unknown']])('a refund that is %s is not announced', (outcome) => {
  expect(say(refunded(outcome, 'The call failed'))).toEqual({ text: expect.stringContaining('could not refund') });
});

test('a refund that a person settled without an output is announced without its number', () => {
  expect(say(refunded('succeeded', 'null')).toolCalls?.[0]?.input).toMatchObject({ text: 'We sent back 31.50 EUR.' });
});

function tell(...texts: string[]): string | undefined {
  return say(texts.flatMap((text) => [turn('user', text), turn('assistant')]).slice(0, -1)).text;
}

test('without an order it says what it can do, and asks for the number where money is wanted back', () => {
  expect(tell('hello')).toContain('I can look up an order');
  expect(tell('order 4', 'thanks')).toContain('I can look up an order');
  expect(tell('I want a refund')).toBe('Which order is it? Tell me its number.');
});

test('over many messages it knows which order is meant, and what was wanted', () => {
  const wants = (...texts: string[]) => {
    const { toolCalls = [] } = say(texts.flatMap((text) => [turn('user', text), turn('assistant')]).slice(0, -1));
    return toolCalls.map(({ toolName, input }) => `${toolName} ${Object.values(input as object)}`);
  };
  expect(wants('what is #7?')).toEqual(['lookUpOrder 7']);
  expect(wants('what is order 7?', 'yes please')).toEqual(['lookUpOrder 7', 'checkPolicy damaged']);
  expect(wants('order 7', 'and 8 is cracked')).toEqual(['lookUpOrder 8', 'checkPolicy damaged']);
  expect(wants('order 7: I changed my mind')).toEqual(['lookUpOrder 7', 'checkPolicy unwanted']);
});

test('what the policy refuses is not refunded', () => {
  const refused = [
    ...looked.slice(0, 3),
    turn('tool', '{"isRefundable":false}', { toolName: 'checkPolicy', outcome: 'succeeded' }),
  ];
  expect(say(refused)).toEqual({ text: expect.stringContaining('cannot refund order 43') });
});

test('an order is refunded once in a conversation', () => {
  const parts = [{ type: 'toolCall', ordinal: 0, toolName: 'refund', input: { orderId: '43' } }] as never;
  const asking = { ...turn('assistant'), parts };
  const done = turn('tool', '{"refundId":"R-1"}', { toolName: 'refund', outcome: 'succeeded' });
  const before = [...looked, asking, done, turn('assistant')];
  expect(say([...before, turn('user', 'refund order 43')])).toEqual({ text: 'Order 43 is refunded already: R-1.' });
  expect(say([...before, turn('user', 'refund order 44')]).toolCalls).toHaveLength(2);
});
