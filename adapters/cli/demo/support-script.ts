import type { ModelRequest, ModelResponse, ModelTurn } from '../../models/model.contract.ts';
import { formatMoney } from './format-money.ts';

const CAN_DO =
  'I can look up an order and refund what arrived damaged. Tell me the number, for example: “Order 42 arrived broken.”';

/**
 * What the agent says, as a function of the history: look, refund, tell the customer, done. It stands in for a model, so that no key
 * is needed and the same words always take the same way. It understands numbers of orders and whether money is wanted back.
 */
export function supportScript({ turns }: ModelRequest): ModelResponse {
  const { asked, since } = lastMessage(turns);
  const order = orderIn(asked) ?? (isAboutBefore(asked) ? lastOrder(turns) : undefined);
  if (order === undefined) return { text: isRefundWanted(asked) ? 'Which order is it? Tell me its number.' : CAN_DO };
  const isRefund = isRefundWanted(asked);
  const found = answerOf(since, 'lookUpOrder');
  if (found === undefined) return look(asked, order, isRefund ? refundOf(turns, order) : undefined);
  if (found.answers?.outcome !== 'succeeded') return { text: `I could not find order ${order}.` };
  return isRefund ? refund(since, order) : { text: describeOrder(turns, since, order) };
}

function look(asked: string, orderId: string, refunded: string | undefined): ModelResponse {
  if (refunded !== undefined) return { text: `Order ${orderId} is refunded already: ${refunded}.` };
  const looking = { toolName: 'lookUpOrder', input: { orderId } };
  if (!isRefundWanted(asked)) return { text: `Let me look at order ${orderId}.`, toolCalls: [looking] };
  const reason = /unwanted|changed my mind|n[o’']t (like|want|need)/i.test(asked) ? 'unwanted' : 'damaged';
  return {
    text: 'I am sorry to hear that. Let me look at the order and at our policy.',
    toolCalls: [looking, { toolName: 'checkPolicy', input: { reason } }],
  };
}

function refund(since: ModelTurn[], orderId: string): ModelResponse {
  const refunding = answerOf(since, 'refund');
  if (outputOf(since, 'checkPolicy').isRefundable === false) {
    return { text: `We refund what arrived damaged, so I cannot refund order ${orderId}.` };
  }
  if (refunding === undefined) {
    return { toolCalls: [{ toolName: 'refund', input: { orderId, cents: outputOf(since, 'lookUpOrder').cents } }] };
  }
  if (refunding.answers?.outcome !== 'succeeded') {
    return { text: 'I could not refund the order. A colleague will take care of it.' };
  }
  if (answerOf(since, 'notifyCustomer') === undefined) {
    const text = `We sent back ${refundText(since)}.`;
    return { toolCalls: [{ toolName: 'notifyCustomer', input: { orderId, text } }] };
  }
  return { text: `Done: ${refundText(since)}. Sorry again for the trouble.` };
}

function describeOrder(turns: ModelTurn[], since: ModelTurn[], orderId: string): string {
  const { item, cents } = outputOf(since, 'lookUpOrder');
  const refunded = refundOf(turns, orderId);
  const what = `Order ${orderId} is ${item} for ${formatMoney(Number(cents))}.`;
  return refunded === undefined ? `${what} Shall I refund it?` : `${what} It is refunded: ${refunded}.`;
}

function isRefundWanted(asked: string): boolean {
  return isAgreeing(asked) || /refund|money|broke|damage|crack|return|back\b|unwanted|changed my mind/i.test(asked);
}

function isAgreeing(asked: string): boolean {
  return /^\s*(yes|yep|sure|ok|okay|please|do it|go ahead)\b/i.test(asked);
}

/** Whether a message without a number speaks of the order before it. */
function isAboutBefore(asked: string): boolean {
  return isRefundWanted(asked) || /\b(it|that|this|order)\b/i.test(asked);
}

function orderIn(text: string): string | undefined {
  return /(?:order|#)\s*#?(\d+)/i.exec(text)?.[1] ?? /\b(\d+)\b/.exec(text)?.[1];
}

function lastOrder(turns: ModelTurn[]): string | undefined {
  const before = turns.findLast(({ role, text }) => role === 'user' && orderIn(text) !== undefined);
  return before && orderIn(before.text);
}

/** The last message of the user, and what came after it. */
function lastMessage(turns: ModelTurn[]): { asked: string; since: ModelTurn[] } {
  const place = turns.findLastIndex(({ role }) => role === 'user');
  return { asked: turns[place]?.text ?? '', since: turns.slice(place + 1) };
}

/** The refund of an order that succeeded in this conversation, in words. */
function refundOf(turns: ModelTurn[], orderId: string): string | undefined {
  const calls = turns.map(({ parts }) => parts.filter((part) => part.type === 'toolCall'));
  const done = turns.findLast(({ answers }, place) => {
    if (answers?.toolName !== 'refund' || answers.outcome !== 'succeeded') return false;
    const asked = calls.slice(0, place).findLast((some) => some.length > 0);
    const input = asked?.find(({ ordinal }) => ordinal === answers.ordinal)?.input as { orderId?: unknown } | undefined;
    return input?.orderId === orderId;
  });
  if (done === undefined) return undefined;
  const { refundId } = readOutput(done);
  return refundId === undefined ? 'a person saw to it' : String(refundId);
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
  const turn = answerOf(turns, toolName);
  return turn === undefined ? {} : readOutput(turn);
}

function readOutput({ text }: ModelTurn): { [name: string]: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as { [name: string]: unknown };
  } catch {
    return {}; // the text of an error, or of a person
  }
}
