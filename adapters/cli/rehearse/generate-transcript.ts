import { generateInput, generateText } from './generate-content.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** A message in OpenAI's chat format, as a recording holds it. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  name?: string;
}

/** What is generated. */
export interface GenerateOptions {
  /** How many conversations, 1 or more. */
  count: number;
  /** A whole number; the same seed gives the same text. */
  seed: number;
}

const TOOL_NAMES = ['look_up_order', 'search-flights', 'refund', 'send_mail', 'think', 'Calculate2'] as const;

/**
 * Made-up recordings, one a line, for tests and for a first look without a recording of one's own.
 *
 * They hold what recordings of one agent rarely all have: several calls in one message, identical ones among them with answers that
 * differ, text beside calls, content that is null or empty, answers that are errors, odd characters, users who speak twice, and every
 * kind of end.
 */
export function generateTranscript({ count, seed }: GenerateOptions): string {
  const random = seededRandom(seed);
  const conversations = Array.from({ length: count }, (_, index) => ({
    id: `generated-${seed}-${index}`,
    messages: generateMessages(random),
  }));
  return conversations.map((conversation) => `${JSON.stringify(conversation)}\n`).join('');
}

function generateMessages(random: SeededRandom): ChatMessage[] {
  const messages: ChatMessage[] = random.chance(0.3) ? [{ role: 'system', content: generateText(random) }] : [];
  const exchanges = random.int(1, 4);
  for (let exchange = 0; exchange < exchanges; exchange += 1) {
    messages.push({ role: 'user', content: generateText(random) });
    if (random.chance(0.1)) messages.push({ role: 'user', content: generateText(random) });
    for (let step = random.int(0, 3); step > 0; step -= 1) messages.push(...generateCalls(random, messages.length));
    messages.push({ role: 'assistant', content: random.chance(0.05) ? null : generateText(random) });
  }
  const cut = random.int(0, 3);
  if (cut === 1) messages.push({ role: 'user', content: generateText(random) });
  if (cut === 2)
    messages.push({ role: 'user', content: generateText(random) }, ...generateCalls(random, messages.length + 1));
  return messages;
}

function generateCalls(random: SeededRandom, place: number): ChatMessage[] {
  const calls = Array.from({ length: random.pick([1, 1, 2, 3, 5]) }, () => ({
    name: random.pick(TOOL_NAMES) as string,
    arguments: JSON.stringify(generateInput(random)),
  }));
  if (random.chance(0.4)) calls.push({ ...calls[0]! });
  const tool_calls = calls.map((call, index) => ({
    id: `call_${place}_${index}`,
    type: 'function' as const,
    function: call,
  }));
  const content = random.chance(0.3) ? generateText(random) : random.pick([null, '']);
  const answers = tool_calls.map(({ id, function: { name } }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    name,
    content: generateOutput(random),
  }));
  return [{ role: 'assistant', content, tool_calls }, ...answers];
}

function generateOutput(random: SeededRandom): string {
  switch (random.int(0, 3)) {
    case 0:
      return `Error: ${generateText(random)}`;
    case 1:
      return JSON.stringify(generateInput(random));
    default:
      return generateText(random);
  }
}
