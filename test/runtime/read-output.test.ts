import type { StandardSchemaV1 } from '@standard-schema/spec';
import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import type { AgentOutput } from '../../runtime/define-agent.ts';
import { readOutput } from '../../runtime/read-output.ts';
import { REFUSED, type RefusedAt, STORED_VALUES } from '../support/odd-values.ts';

/** So that a value that is too large is found so soon. */
const SMALL = { ...LIMITS, maxReplyBytes: 100_000 };

/** An output whose validator makes of any reply what the test says. */
function madeBy(make: () => unknown): AgentOutput {
  const validate = (): StandardSchemaV1.Result<unknown> => ({ value: make() });
  const schema = { '~standard': { version: 1, vendor: 'test', validate } };
  return { schema: schema as unknown as AgentOutput['schema'], jsonSchema: {} };
}

test.each(STORED_VALUES)('C34 C36 an output that is $name is the one that is read back', async ({ make, fate }) => {
  expect(await readOutput(madeBy(make), '{}', LIMITS)).toEqual({
    output: fate.stored,
    notes: fate.paths.map((path) => `/output${path}`),
  });
});

test.each(REFUSED)(
  'C36 a reply whose output is $name is not final, and says where it is wrong',
  async ({ make, fate }) => {
    const [{ path }] = fate.at as [RefusedAt];
    const { refused } = (await readOutput(madeBy(make), '{}', SMALL)) as { refused: string };
    expect(refused).toMatch(/^The output cannot be stored: value /);
    expect(refused).toContain(path === null ? '/output' : `/output${path} `);
  },
);

test.each([
  [
    'at once',
    () => {
      throw new Error('boom');
    },
  ],
  ['later', () => Promise.reject(new Error('boom'))],
])('a validator that throws %s is named as such', async (_, validate) => {
  const schema = { '~standard': { version: 1, vendor: 'test', validate } };
  const declared = { schema: schema as unknown as AgentOutput['schema'], jsonSchema: {} };
  expect(await readOutput(declared, '{}', LIMITS)).toEqual({ refused: 'The validation threw: boom' });
});

test.each([null, undefined, 42, { issues: 'none' }])(
  'a validator that answers %j is not taken for one that agrees',
  async (result) => {
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => result } };
    const declared = { schema: schema as unknown as AgentOutput['schema'], jsonSchema: {} };
    expect(await readOutput(declared, '{}', LIMITS)).toEqual({
      refused: expect.stringContaining('validator answered with no result'),
    });
  },
);
