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
