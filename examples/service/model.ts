import type { Model, ModelRequest, ModelTurn } from 'turnlock';
import { aiSdk } from 'turnlock/ai-sdk';
import { scripted } from 'turnlock/scripted';

/** A model of the provider whose key is in the environment, where its package is installed; else a script, which needs neither. */
export async function chooseModel(): Promise<Model> {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, AI_GATEWAY_API_KEY } = process.env;
  if (OPENAI_API_KEY) return aiSdk((await load('@ai-sdk/openai')).openai('gpt-5.4-mini'));
  if (ANTHROPIC_API_KEY) return aiSdk((await load('@ai-sdk/anthropic')).anthropic('claude-haiku-4-5'));
  if (AI_GATEWAY_API_KEY) return aiSdk('openai/gpt-5.4-mini');
  return scripted(answer, { modelId: 'scripted-support' });
}

/** Imported by a name that the compiler does not follow: a provider's package is yours to install. */
async function load(name: string) {
  return await import(name);
}

/** What the script says: it looks the order up, pays it back, and tells what came of it. */
function answer({ turns }: ModelRequest) {
  const place = turns.findLastIndex(({ role }) => role === 'user');
  const asked = turns[place]?.text ?? '';
  const since = turns.slice(place + 1);
  const orderId = /\d{1,9}/.exec(asked)?.[0];
  if (orderId === undefined) return 'I can look up an order and pay it back. Which one is it? Tell me its number.';
  const toolName = /cash/i.test(asked) ? 'refundInCash' : 'refund';
  const found = answerOf(since, 'lookUpOrder');
  if (found === undefined)
    return { text: `Let me look at order ${orderId}.`, toolCalls: [call('lookUpOrder', { orderId })] };
  const { item, cents } = JSON.parse(found.text);
  const price = `${(cents / 100).toFixed(2)} EUR`;
  if (!/refund|money|broke|back|cash/i.test(asked))
    return `Order ${orderId} is ${item} for ${price}. Shall I refund it?`;
  const paid = answerOf(since, toolName);
  if (paid === undefined)
    return { text: `That is ${item} for ${price}.`, toolCalls: [call(toolName, { orderId, cents })] };
  return closing(paid, { orderId, price });
}

function closing({ answers, text }: ModelTurn, { orderId, price }: { orderId: string; price: string }): string {
  if (answers?.outcome === 'succeeded') return `Done: order ${orderId} is paid back, ${price}.`;
  if (answers?.outcome === 'failed') return `I have not paid order ${orderId} back: ${text}`;
  return `Nobody can say yet whether order ${orderId} was paid back. I do not try again.`;
}

function call(toolName: string, input: object) {
  return { toolName, input };
}

function answerOf(turns: readonly ModelTurn[], toolName: string): ModelTurn | undefined {
  return turns.findLast(({ answers }) => answers?.toolName === toolName);
}
