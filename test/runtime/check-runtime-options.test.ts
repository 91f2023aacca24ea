import { expect, test } from 'vitest';
import { createRuntime, inProcessDeltas } from '../../index.ts';

const database = { connect: () => Promise.reject(new Error('not to be opened')) };

test.each<[string, unknown]>([
  ['database', { database: { connect: 1 } }],
  ['drive', { drive: 'no' }],
  ['migrate', { migrate: 'always' }],
  ['onWarning', { onWarning: 'console' }],
  ['onAwaiting', { onAwaiting: {} }],
  ['log', { log: console }],
  ['telemetry', { telemetry: {} }],
  ['deltas', { deltas: {} }],
  ['deltas', { deltas: { publish: () => undefined } }],
  ['environment', { environment: 'test' }],
  ['delta', { delta: inProcessDeltas() }],
])('createRuntime refuses %s of another kind, before anything is opened', async (option, given) => {
  const options = { database, agents: [], ...(given as object) };
  await expect(createRuntime(options as never)).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining(option),
  });
});
