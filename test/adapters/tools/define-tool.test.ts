import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../adapters/tools/define-tool.ts';
import { isTurnlockError, type TurnlockError } from '../../../errors.ts';

const sound = {
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: z.object({ orderId: z.string(), cents: z.number().default(0) }),
  execute: () => null,
};

describe('defineTool', () => {
  test('holds what was given, and the safe defaults', () => {
    expect(defineTool(sound)).toMatchObject({
      name: 'refund',
      description: 'Refunds an order.',
      version: 1,
      effect: 'nonRepeatable',
      repeatable: false,
      timeoutMs: null,
      execute: sound.execute,
    });
  });

  test('shows the model what its input may be before defaults are filled in', () => {
    expect(defineTool(sound).inputJsonSchema).toMatchObject({
      type: 'object',
      properties: { orderId: { type: 'string' }, cents: { type: 'number', default: 0 } },
      required: ['orderId'],
    });
  });

  test.each(['a', 'A-Z_9', '-', '0', 'n'.repeat(64)])('takes the name %s', (name) => {
    expect(defineTool({ ...sound, name }).name).toBe(name);
  });

  test.each<[string, unknown]>([
    ['empty', ''],
    ['one character too long', 'n'.repeat(65)],
    ['very long', 'n'.repeat(100_000)],
    ['with a space', 'with space'],
    ['with a dot', 'dotted.name'],
    ['with a slash', 'a/b'],
    ['with a letter of another alphabet', 'é'],
    ['with a line break at its end', 'line\n'],
    ['with U+0000', 'zero\u0000'],
    ['a number', 7],
    ['a BigInt', 5n],
    ['null', null],
    ['absent', undefined],
    ['an object', {}],
  ])('refuses a name that is %s', (_title, name) => {
    const error = refusalOf({ ...sound, name });
    expect(error.code).toBe('TOOL_NAME_INVALID');
    expect(error.message.length).toBeLessThan(300);
  });

  test.each([undefined, null, 'refund'])('refuses %j as a definition', (definition) => {
    expect(refusalOf(definition).code).toBe('TOOL_NAME_INVALID');
  });

  test.each([
    ['description', undefined],
    ['description', 5],
    ['effect', 'sometimes'],
    ['effect', null],
    ['effect', 'exactlyOnce'],
    ['repeatable', 'yes'],
    ['timeoutMs', 0],
    ['timeoutMs', -1],
    ['timeoutMs', 1.5],
    ['timeoutMs', 2 ** 31],
    ['timeoutMs', Number.NaN],
    ['timeoutMs', Number.POSITIVE_INFINITY],
    ['timeoutMs', '5'],
    ['execute', undefined],
    ['execute', 'later'],
    ['inputSchema', undefined],
    ['inputSchema', null],
    ['inputSchema', {}],
    ['inputSchema', { '~standard': { validate: () => ({ value: 1 }) } }],
    ['policy', 'deny'],
    ['rule', () => 'deny'],
    ['timeout', 5],
  ])('refuses %s %o, and says which option', (option, value) => {
    const error = refusalOf({ ...sound, [option]: value });
    expect(error.code).toBe('DEFINITION_INVALID');
    expect(error.message).toContain(`${option} of refund`);
  });

  test.each([1, 2 ** 31 - 1])('takes a time-out of %i ms', (timeoutMs) => {
    expect(defineTool({ ...sound, timeoutMs }).timeoutMs).toBe(timeoutMs);
  });

  test('refuses a schema that throws nothing readable when it is asked for its JSON Schema', () => {
    const input = () => {
      throw null;
    };
    const inputSchema = { '~standard': { validate: () => ({ value: 1 }), jsonSchema: { input } } };
    expect(refusalOf({ ...sound, inputSchema }).code).toBe('DEFINITION_INVALID');
  });

  test('refuses a schema that cannot say itself as JSON Schema', () => {
    const error = refusalOf({ ...sound, inputSchema: z.object({ at: z.date() }) });
    expect(error).toMatchObject({
      code: 'DEFINITION_INVALID',
      message: expect.stringContaining('inputSchema of refund'),
    });
    expect(error.cause).toBeInstanceOf(Error);
  });
});

function refusalOf(definition: unknown): TurnlockError {
  try {
    defineTool(definition as typeof sound);
  } catch (error) {
    expect(isTurnlockError(error)).toBe(true);
    return error as TurnlockError;
  }
  throw new Error('nothing was refused');
}
