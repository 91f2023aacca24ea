import { expect, test } from 'vitest';
import { z } from 'zod';
import { jsonSchemaOf } from '../../../adapters/tools/json-schema-of.ts';
import { schemaDigest } from '../../../persistence/keys/schema-digest.ts';

const ofZod = (schema: z.ZodType) => schemaDigest(jsonSchemaOf(schema as never, 'test'));

const BASE = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a', 'b'] };

test.each<[string, object]>([
  ['a description', { ...BASE, description: 'another' }],
  [
    'a description of a property',
    { ...BASE, properties: { ...BASE.properties, a: { type: 'string', description: 'x' } } },
  ],
  ['the dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...BASE }],
  ['titles, comments and examples', { ...BASE, title: 't', $comment: 'c', examples: [{ a: '' }], deprecated: true }],
  [
    'the order of properties and of what is required',
    {
      required: ['b', 'a'],
      properties: { b: { type: 'number' }, a: { type: 'string' } },
      type: 'object',
    },
  ],
])('%s is the same schema', (_, schema) => {
  expect(schemaDigest(schema)).toBe(schemaDigest(BASE));
});

test.each<[string, object]>([
  ['another type', { ...BASE, properties: { ...BASE.properties, b: { type: 'string' } } }],
  ['one more property', { ...BASE, properties: { ...BASE.properties, c: { type: 'string' } } }],
  [
    'a property that is named as a word for readers',
    { ...BASE, properties: { ...BASE.properties, description: { type: 'string' } } },
  ],
  ['less that is required', { ...BASE, required: ['a'] }],
  ['a default', { ...BASE, properties: { ...BASE.properties, b: { type: 'number', default: 0 } } }],
  ['a default with a title in it', { ...BASE, default: { title: 'x' } }],
  ['a bound', { ...BASE, properties: { ...BASE.properties, b: { type: 'number', minimum: 1 } } }],
  ['no other properties', { ...BASE, additionalProperties: false }],
])('%s is another schema', (_, schema) => {
  expect(schemaDigest(schema)).not.toBe(schemaDigest(BASE));
});

test('data is told from keywords: defaults and constants that differ in a title differ', () => {
  expect(schemaDigest({ default: { title: 'x' } })).not.toBe(schemaDigest({ default: { title: 'y' } }));
  expect(schemaDigest({ const: { description: 'x' } })).not.toBe(schemaDigest({ const: {} }));
  expect(schemaDigest({ enum: ['b', 'a'] })).toBe(schemaDigest({ enum: ['a', 'b'] }));
  expect(schemaDigest({ items: [{ type: 'string' }, {}] })).not.toBe(schemaDigest({ items: [{}, { type: 'string' }] }));
});

test('schemas of Zod: what describes does not count, what validates does', () => {
  const one = z.object({ id: z.string().describe('an id'), n: z.number().optional() }).describe('what');
  const same = z.object({ n: z.number().optional(), id: z.string() });
  expect(ofZod(one)).toBe(ofZod(same));
  expect(ofZod(one)).not.toBe(ofZod(z.object({ id: z.string(), n: z.number() })));
  expect(schemaDigest(BASE)).toMatch(/^[0-9a-f]{64}$/);
});
