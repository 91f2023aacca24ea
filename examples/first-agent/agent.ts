import { createRuntime, defineAgent, defineTool } from 'turnlock';
import { pglite } from 'turnlock/pglite';
import { scripted } from 'turnlock/scripted';
import { z } from 'zod';

const stock = defineTool({
  name: 'stock',
  description: 'Says how many pieces of an article are left.',
  inputSchema: z.object({ article: z.string() }),
  effect: 'readOnly',
  execute: ({ article }) => ({ left: article.length }),
});
const model = scripted(({ turns }) => {
  const last = turns.at(-1);
  if (last?.role === 'tool') return `The shop says: ${last.text}`;
  return { text: 'I look it up.', toolCalls: [{ toolName: 'stock', input: { article: 'lamp' } }] };
});
const shop = defineAgent({ name: 'shop', instructions: 'Answer in one sentence.', model, tools: [stock] });

const runtime = await createRuntime({ database: pglite('.turnlock'), agents: [shop] });
const session = await runtime.createSession({ agent: 'shop', tenantId: 'acme', userId: 'ana' });
const { state } = await (await session.send('How many lamps are left?')).result();
for (const { role, content } of await session.history()) console.log(`${role}: ${content}`);
console.log(state);
await runtime.close();
