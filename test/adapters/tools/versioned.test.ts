import { asSchema, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromAiSdk } from '../../../adapters/tools/from-ai-sdk.ts';
import type { InputSchema } from '../../../adapters/tools/tool.contract.ts';
import { defineTool, versioned } from '../../../index.ts';

const V1 = z.object({ order: z.number() });
const V2 = z.object({ orderId: z.string() });
const V3 = z.object({ orderId: z.string(), cents: z.number().default(0) });
const chain = versioned(V1)
  .to(V2, ({ order }) => ({ orderId: `A-${order}` }))
  .to(V3, (old) => old);

const toolOf = (inputSchema: InputSchema) =>
  defineTool({ name: 'refund', description: '', inputSchema, execute: () => null });

describe('versioned', () => {
  test('the length of the chain is the version, and the last schema is what the model sees and what validates', () => {
    expect(toolOf(V1)).toMatchObject({ version: 1, versions: [{ schema: V1, upgrade: null }] });
    const { version, versions, inputJsonSchema, inputSchema } = toolOf(chain);
    expect(version).toBe(3);
    expect(versions.map(({ schema }) => schema)).toEqual([V1, V2, V3]);
    expect(inputJsonSchema).toEqual(toolOf(V3).inputJsonSchema);
    expect(versions[0]?.jsonSchema).toEqual(toolOf(V1).inputJsonSchema);
    expect(inputSchema['~standard'].validate({ orderId: 'A-1' })).toEqual({ value: { orderId: 'A-1', cents: 0 } });
    expect(versions[1]?.upgrade?.({ order: 7 })).toEqual({ orderId: 'A-7' });
  });

  test('a chain is a value: what is added to it leaves it as it was', () => {
    const first = versioned(V1);
    const one = first.to(V2, ({ order }) => ({ orderId: `A-${order}` }));
    first.to(V2, ({ order }) => ({ orderId: `B-${order}` }));
    expect([toolOf(first).version, toolOf(one).version]).toEqual([1, 2]);
    expect(toolOf(one).versions[1]?.upgrade?.({ order: 1 })).toEqual({ orderId: 'A-1' });
  });

  test('what is no schema, has versions of its own, or comes without an upgrade is refused', () => {
    const refused = (attempt: () => unknown) =>
      expect(attempt, attempt.toString()).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }));
    for (const value of [null, undefined, {}, 1, 'x']) {
      refused(() => versioned(value as never));
      refused(() => versioned(V1).to(value as never, () => null as never));
      refused(() => versioned(V1).to(V2, value as never));
    }
    refused(() => versioned(chain as never));
    refused(() => versioned(V1).to(chain as never, () => null as never));
    refused(() => toolOf(null as never));
  });

  test('a tool of the AI SDK whose schema is a chain keeps it', () => {
    const refund = tool({
      description: 'x',
      inputSchema: asSchema(chain as never) && (chain as never),
      execute: () => 'x',
    });
    const [ours] = fromAiSdk({ refund }, { refund: { keepsApproval: true } });
    expect(ours).toMatchObject({ version: 3, keepsApproval: true });
  });

  test('keepsApproval is true or false, and false by default', () => {
    expect(toolOf(V1).keepsApproval).toBe(false);
    expect(() => defineTool({ ...toolOf(V1), keepsApproval: 'yes' } as never)).toThrow();
  });
});
