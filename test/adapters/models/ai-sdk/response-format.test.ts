import { expect, test } from 'vitest';
import { z } from 'zod';
import { responseFormat } from '../../../../adapters/models/ai-sdk/response-format.ts';
import type { Json } from '../../../../machines/event-content.ts';

function schemaOf(outputSchema: Json): unknown {
  const { responseFormat: format } = responseFormat({ outputSchema });
  return format?.type === 'json' ? format.schema : undefined;
}

test('without an output nothing is asked for', () => {
  expect(responseFormat({})).toEqual({});
});

test('objects take no property but those that they name, wherever they stand', () => {
  const item = z.object({ name: z.string(), tags: z.array(z.object({ tag: z.string() })) });
  const output = z.object({ items: z.array(item), kind: z.union([z.object({ a: z.number() }), z.null()]) });
  const jsonSchema = output['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as Json;
  const text = JSON.stringify(schemaOf(jsonSchema));
  expect(text.match(/"type":"object"/g)).toHaveLength(4);
  expect(text.match(/"additionalProperties":false/g)).toHaveLength(4);
});

test('what a schema says itself of further properties stands, and a property may have any name', () => {
  const open = { type: 'object', properties: { items: { type: 'string' } }, additionalProperties: true };
  expect(schemaOf(open)).toEqual(open);
  const named = { type: 'object', properties: { properties: { type: 'object', properties: {} } } };
  expect(schemaOf(named)).toEqual({
    type: 'object',
    properties: { properties: { type: 'object', properties: {}, additionalProperties: false } },
    additionalProperties: false,
  });
});

test('parts that see each other are left alone, and so are values that only look like schemas', () => {
  const both = { allOf: [{ type: 'object', properties: { a: {} } }] };
  expect(schemaOf(both)).toEqual(both);
  const looks = { enum: [{ properties: {} }], const: { properties: {} }, default: { properties: {} } };
  expect(schemaOf(looks)).toEqual(looks);
});

test.each<[string, Json]>([
  ['true', true],
  ['a schema whose properties are no object', { properties: [1] }],
])('%s goes through', (_, schema) => {
  expect(JSON.stringify(schemaOf(schema))).toContain(JSON.stringify(schema).slice(0, 4));
});
