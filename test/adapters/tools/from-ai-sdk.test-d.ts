import { tool } from 'ai';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { fromAiSdk } from '../../../adapters/tools/from-ai-sdk.ts';
import type { Tool } from '../../../adapters/tools/tool.contract.ts';

const lookup = tool({ inputSchema: z.object({ id: z.number() }), execute: async ({ id }) => id });

test('tools of the SDK become tools, with settings by name', () => {
  expectTypeOf(fromAiSdk({ lookup }, { lookup: { effect: 'readOnly' } })).toEqualTypeOf<Tool[]>();
});

test('settings of a tool that is not there, or of another kind, are refused', () => {
  // @ts-expect-error there is no such tool
  fromAiSdk({ lookup }, { other: { effect: 'readOnly' } });
  // @ts-expect-error there is no such class
  fromAiSdk({ lookup }, { lookup: { effect: 'harmless' } });
});
