import type { ModelRequest, ModelResponse, ModelTurn } from '../../models/model.contract.ts';
import { formatMoney } from './format-money.ts';

/**
 * What the agent says, as a function of the history: look, refund, tell the customer, done. It stands in for a model, so that the
 * demonstration needs no key and always takes the same way.
 */
export function supportScript({ turns }: ModelRequest): ModelResponse {
  const orderId = /Order (\d+)/.exec(turns[0]?.text ?? '')?.[1] ?? '0';
  switch (turns.filter(({ role }) => role === 'assistant').length) {
    case 0:
      return {
        text: 'I am sorry to hear that. Let me look at the order and at our policy.',
        toolCalls: [
          { toolName: 'lookUpOrder', input: { orderId } },
          { toolName: 'checkPolicy', input: { reason: 'damaged' } },
        ],
      };
    case 1:
      return { toolCalls: [{ toolName: 'refund', input: { orderId, cents: outputOf(turns, 'lookUpOrder').cents } }] };
    case 2:
      return afterRefund(turns, orderId);
    default:
      return { text: `Done: ${refundText(turns)}. Sorry again for the trouble.` };
  }
}

function afterRefund(turns: ModelTurn[], orderId: string): ModelResponse {
  if (answerOf(turns, 'refund')?.answers?.outcome !== 'succeeded') {
    return { text: 'I could not refund the order. A colleague will take care of it.' };
  }
  return {
    toolCalls: [{ toolName: 'notifyCustomer', input: { orderId, text: `We sent back ${refundText(turns)}.` } }],
  };
}

function refundText(turns: ModelTurn[]): string {
  const { cents } = outputOf(turns, 'lookUpOrder');
  const { refundId } = outputOf(turns, 'refund');
  return `${formatMoney(Number(cents))}${refundId === undefined ? '' : `, refund ${refundId}`}`;
}

function answerOf(turns: ModelTurn[], toolName: string): ModelTurn | undefined {
  return turns.findLast(({ answers }) => answers?.toolName === toolName);
}

function outputOf(turns: ModelTurn[], toolName: string): { [name: string]: unknown } {
  return (JSON.parse(answerOf(turns, toolName)?.text ?? '{}') ?? {}) as { [name: string]: unknown };
}
