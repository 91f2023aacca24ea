import { describe, expect, test } from 'vitest';
import { scripted } from '../../adapters/models/scripted.ts';
import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { defineAgent } from '../../runtime/define-agent.ts';
import { anyTool } from './planning.ts';

const sound = { name: 'support', model: scripted(''), instructions: 'Help.' };

describe('defineAgent', () => {
  test('holds what was given, tools by name; version 1 and no tools are the defaults', () => {
    expect(defineAgent(sound)).toEqual({
      ...sound,
      version: 1,
      tools: new Map(),
      output: null,
      limits: {},
      context: null,
      recall: null,
      asTool: expect.any(Function),
    });
    const tool = anyTool({ name: 'refund' });
    expect(defineAgent({ ...sound, version: 3, tools: [tool] })).toMatchObject({
      version: 3,
      tools: new Map([['refund', tool]]),
    });
  });

  test('counts characters as the column does', () => {
    const name = '\u{1F600}'.repeat(64);
    expect(defineAgent({ ...sound, name }).name).toBe(name);
    expect(refusalOf({ ...sound, name: `${name}!` }).code).toBe('DEFINITION_INVALID');
  });

  test.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['name', { name: 'n'.repeat(65) }],
    ['name', { name: 'a\u0000' }],
    ['name', { name: '\uD800' }],
    ['name', { name: 5n }],
    ['version', { version: 0 }],
    ['version', { version: 1.5 }],
    ['version', { version: '1' }],
    ['version', { version: 2 ** 31 }],
    ['model', { model: undefined }],
    ['model', { model: {} }],
    ['model.modelId', { model: { generate: () => null } }],
    ['model.modelId', { model: { generate: () => null, modelId: 'm'.repeat(65) } }],
    ['instructions', { instructions: undefined }],
    ['instructions', { instructions: 7 }],
    ['tools', { tools: {} }],
    ['tools', { tools: [{ name: 'refund' }] }],
    ['tools', { tools: [null] }],
    ['tools', { tools: Array(1) }],
    ['tools', { tools: [anyTool({ name: 'twin' }), anyTool({ name: 'twin' })] }],
    ['policy', { policy: () => 'deny' }],
    ['limits', { limits: null }],
    ['leaseMs', { limits: { leaseMs: 1_000 } }],
    ['maxTokensPerRun', { limits: { maxTokensPerRun: 0 } }],
    ['context', { context: true }],
    ['context.maxTokens', { context: {} }],
    ['context.maxTokens', { context: { maxTokens: 199 } }],
    ['context.maxTokens', { context: { maxTokens: 1_000.5 } }],
    ['context.keepTokens', { context: { maxTokens: 1_000, keepTokens: 501 } }],
    ['context.keepTokens', { context: { maxTokens: 1_000, keepTokens: -1 } }],
    ['context.summaryModel', { context: { maxTokens: 1_000, summaryModel: 'small' } }],
    ['context.summaryInstructions', { context: { maxTokens: 1_000, summaryInstructions: 7 } }],
    ['context.countTokens', { context: { maxTokens: 1_000, countTokens: 4 } }],
    ['recall', { recall: 'all' }],
    ['recall.maxTokens', { recall: { maxTokens: 0 } }],
    ['recall.limit', { recall: { limit: 101 } }],
    ['recall.kinds', { recall: { kinds: [] } }],
    ['recall.kinds', { recall: { kinds: ['rumour'] } }],
    ['recall.query', { recall: { query: 'x' } }],
    ['context.share', { context: { maxTokens: 1_000, share: 2 } }],
  ])('refuses a wrong %s, case %#', (option, change) => {
    const error = refusalOf({ ...sound, ...change });
    expect(error.code).toBe('DEFINITION_INVALID');
    expect(error.message).toContain(option);
  });

  test('names the tools that share a name', () => {
    const twin = anyTool({ name: 'twin' });
    expect(refusalOf({ ...sound, tools: [anyTool(), twin, twin] }).message).toContain('not two of twin');
  });

  test.each([undefined, null, 'support'])('refuses %j as a definition', (definition) => {
    expect(refusalOf(definition).code).toBe('DEFINITION_INVALID');
  });
});

function refusalOf(definition: unknown): TurnlockError {
  try {
    defineAgent(definition as typeof sound);
  } catch (error) {
    expect(isTurnlockError(error)).toBe(true);
    return error as TurnlockError;
  }
  throw new Error('nothing was refused');
}
