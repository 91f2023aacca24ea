import { expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, isTurnlockError, type TurnlockError } from '../../index.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { childOf } from '../../runtime/agent-tool.ts';
import { planCalls } from '../../runtime/plan-calls.ts';
import { planningWith } from './planning.ts';

const agent = (name: string, tools: Parameters<typeof defineAgent>[0]['tools'] = [], version = 1) =>
  defineAgent({ name, version, model: scripted('done'), instructions: '', tools: tools ?? [] });

const refusalOf = (make: () => unknown): TurnlockError => {
  try {
    make();
  } catch (error) {
    if (isTurnlockError(error)) return error;
    throw error;
  }
  throw new Error('was accepted');
};

test('an agent is a tool of its name, which takes a message, and of which a repeat is asked about', () => {
  const tool = agent('research').asTool();
  expect(tool).toMatchObject({
    name: 'research',
    effect: 'reconcilable',
    timeoutMs: null,
    onRepeat: 'ask',
    policy: null,
  });
  expect(tool.inputJsonSchema).toMatchObject({ properties: { message: { type: 'string' } }, required: ['message'] });
  expect(childOf(tool)!.message({ message: 'gold' })).toBe('gold');
});

test('its options are checked', () => {
  const research = agent('research');
  const schema = z.object({ topic: z.string() });
  expect(refusalOf(() => agent('re search').asTool()).code).toBe('TOOL_NAME_INVALID');
  expect(refusalOf(() => research.asTool({ timeoutMs: 5 } as never)).message).toContain('timeoutMs of "research"');
  expect(refusalOf(() => research.asTool({ inputSchema: schema } as never)).message).toContain('message of "research"');
  expect(refusalOf(() => research.asTool({ message: 'gold' } as never)).code).toBe('DEFINITION_INVALID');
  expect(refusalOf(() => research.asTool(null as never)).code).toBe('DEFINITION_INVALID');
});

test('a call of it has no deadline and says which session answers it; one whose params make no message fails', async () => {
  const say = ({ topic }: { topic: string }) => {
    if (topic === 'throws') throw new Error('no such topic');
    return topic;
  };
  const tool = agent('research').asTool({ inputSchema: z.object({ topic: z.string() }), message: say });
  const asked = ['gold', '', 'throws'].map((topic) => ({ toolName: 'research', input: { topic } }));
  const { calls, parts } = await planCalls({ ...planningWith([tool]), session: { depth: 0 } as never }, asked);
  expect(calls.map(({ verdict }) => verdict)).toEqual(['start', 'settled', 'settled']);
  expect(calls[0]!.content).toMatchObject({
    timeoutMs: null,
    child: { agentName: 'research', depth: 1, message: { text: 'gold' } },
  });
  expect(parts[0]).toMatchObject({ childSessionId: calls[0]!.childSessionId });
  expect(calls.slice(1).map(({ content }) => content.settled!.error!.message)).toEqual([
    expect.stringContaining('no message came of the params'),
    'no such topic',
  ]);
});

test('agents come with those that ask them; two of one name are refused, with both versions', async () => {
  const database: DatabaseAdapter = { kind: 'postgres', connect: () => Promise.reject(new Error('reached')) };
  const open = (agents: Parameters<typeof createRuntime>[0]['agents']) => createRuntime({ database, agents });
  const research = agent('research');
  const boss = agent('boss', [research.asTool()]);
  await expect(open([boss, research])).rejects.toThrow('reached');
  await expect(open([boss, agent('research', [], 2)])).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringMatching(/not version 1 as tool of "boss" beside version 2/),
  });
});
