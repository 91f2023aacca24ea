import { type ToolSet, tool } from 'ai';
import fc from 'fast-check';
import { describe } from 'vitest';
import { z } from 'zod';
import { askUser } from '../../../adapters/tools/ask-user.ts';
import { fromAiSdk } from '../../../adapters/tools/from-ai-sdk.ts';
import { recallTool } from '../../../adapters/tools/recall-tool.ts';
import { rememberTool } from '../../../adapters/tools/remember-tool.ts';
import type { Tool } from '../../../adapters/tools/tool.contract.ts';
import { type ToolContract, toolContract } from '../../../testing/contracts/tool-contract.ts';
import { answeringFetch, listed } from '../../support/mcp/answering-fetch.ts';
import { connect } from '../../support/mcp/mcp-world.ts';
import { contractTests } from '../../testing/contracts/contract-tests.ts';
import { type Bank, contractOf, idempotent, readOnly, reconcilable } from '../../testing/contracts/sound-tools.ts';

describe.each([
  ['idempotent', idempotent],
  ['reconcilable', reconcilable],
  ['readOnly', readOnly],
])('defineTool: one that is %s', (_, make) => contractTests(toolContract(contractOf(make))));

describe('fromAiSdk: a tool of the SDK', () => {
  const refund = (bank: Bank) =>
    tool({
      description: 'Pays an order back.',
      inputSchema: z.object({ order: z.string().min(1), cents: z.int().positive() }),
      needsApproval: ({ cents }) => cents > 100,
      execute: ({ cents }, { toolCallId, abortSignal }) => bank.pay(cents, toolCallId, abortSignal),
    });
  const make = (bank: Bank) => fromAiSdk({ refund: refund(bank) } as ToolSet, { refund: { effect: 'idempotent' } })[0];
  contractTests(toolContract(contractOf((bank) => make(bank) as Tool)));
});

describe('mcp: a tool of a server', async () => {
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const answering = answeringFetch([listed('read', { inputSchema })]);
  let isSilent = false;
  const fetch: typeof globalThis.fetch = (url, init) =>
    isSilent && String(init?.body).includes('tools/call') ? new Promise(() => undefined) : answering(url, init);
  const url = 'http://world.invalid/mcp';
  const server = await connect({ url, fetch }, { tools: { read: { effect: 'readOnly' } } });
  const contract: ToolContract<null> = {
    world: () => {
      isSilent = false;
      return null;
    },
    make: () => server.tools[0] as Tool,
    params: fc.record({ path: fc.string() }),
    invalidParams: fc.constantFrom<unknown[]>({}, { path: 7 }, 'text', null),
    silence: () => {
      isSilent = true;
    },
    numRuns: 20,
    seed: 1,
  };
  contractTests(toolContract(contract));
});

const text = fc.string({ minLength: 1 }).filter((one) => one.trim() !== '');

describe.each<[string, () => Tool, ToolContract<null>['params']]>([
  ['askUser', askUser, fc.record({ question: text, options: fc.array(fc.string()) }, { requiredKeys: ['question'] })],
  ['recallTool', recallTool, fc.record({ query: text })],
  ['rememberTool', rememberTool, fc.record({ kind: fc.constant('fact'), content: text })],
])('%s', (_, make, params) => {
  const invalidParams = fc.constantFrom<unknown[]>({}, null, 'text');
  contractTests(toolContract({ make, params, invalidParams, numRuns: 20, seed: 1 }));
});
