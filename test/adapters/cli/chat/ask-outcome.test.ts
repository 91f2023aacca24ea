import { expect, test } from 'vitest';
import { askOutcome } from '../../../../adapters/cli/chat/ask-outcome.ts';
import { ChatScreen } from '../../../../adapters/cli/chat/chat-screen.ts';
import { openTerminal } from '../../../../adapters/cli/terminal.ts';
import type { AwaitedExecution } from '../../../../index.ts';

const CALL: AwaitedExecution = {
  sessionId: 'session',
  executionId: 'e',
  approvalId: 'a',
  toolName: 'refund',
  params: {},
  reason: 'unknown',
  problem: null,
  idempotencyKey: 'k',
  digest: 'd',
};

async function ask(answers: (string | null)[], reason: AwaitedExecution['reason'] = 'unknown') {
  const screen = new ChatScreen(openTerminal({ json: true }), {
    agent: 'a',
    isDialogue: true,
    find: async () => null,
    whyFailed: async () => null,
  });
  const left = [...answers];
  const input = { read: async () => left.shift() ?? null, end: () => undefined };
  const settlement = await askOutcome({ ...CALL, reason }, { screen, input, by: 'ana' });
  expect(left).toEqual([]);
  return settlement;
}

test('it succeeded, with what the tool would have returned; what is no JSON is asked again', async () => {
  expect(await ask(['S', ''])).toEqual({ outcome: 'succeeded', output: null, by: 'ana' });
  const settlement = { outcome: 'succeeded', output: { id: 'R-1' }, by: 'ana' };
  expect(await ask(['s', '{id}', '{"id":"R-1"}'])).toEqual(settlement);
});

test('it failed, with a reason; run it again', async () => {
  expect(await ask(['f', ' the bank refused '])).toEqual({ outcome: 'failed', reason: 'the bank refused', by: 'ana' });
  expect(await ask(['f', ''])).toMatchObject({ outcome: 'failed', reason: 'It did not happen.' });
  expect(await ask(['what?', 'r'])).toEqual({ outcome: 'runAgain', by: 'ana' });
});

test('it is left as it is, also at every further question', async () => {
  for (const answers of [['l'], [null], ['s', null], ['f', null]]) expect(await ask(answers)).toBeNull();
});

test('what waits for approval is approved or denied; what is unknown is not', async () => {
  expect(await ask(['A'], 'approval')).toEqual({ decision: 'approve', by: 'ana' });
  expect(await ask(['d', ' too old '], 'approval')).toEqual({ decision: 'deny', reason: 'too old', by: 'ana' });
  expect(await ask(['d', null], 'approval')).toBeNull();
  expect(await ask(['a', 'd', 'l'])).toBeNull();
});

test('what was never started is not run again', async () => {
  expect(await ask(['r', 'l'], 'approval')).toBeNull();
});
