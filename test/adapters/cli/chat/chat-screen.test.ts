import { expect, test } from 'vitest';
import { ChatScreen } from '../../../../adapters/cli/chat/chat-screen.ts';
import { coloursFor, type Terminal } from '../../../../adapters/cli/terminal.ts';
import type { RunEvent } from '../../../../index.ts';

const whyFailed = async () => ({ code: 'MODEL_FAILED', message: 'HTTP 429\u001b' });

/** Every call failed. */
const findRow = async () => ({ toolName: 'gone', status: 'FAILED', errorMessage: 'There is no such tool.' }) as never;

function screen({ isDialogue = true } = {}) {
  let printed = '';
  const beside: string[] = [];
  const terminal: Terminal = {
    isJson: false,
    isInteractive: isDialogue,
    colours: coloursFor(false),
    columns: 60,
    line: (text = '') => {
      printed += `${text}\n`;
    },
    piece: (text) => {
      printed += text;
    },
    json: () => undefined,
    note: (text) => {
      printed += isDialogue ? `${text}\n` : '';
      beside.push(text);
    },
  };
  const shown = new ChatScreen(terminal, { agent: 'support', isDialogue, find: findRow, whyFailed });
  return { shown, beside, printed: () => printed };
}

function delta(text: string, attempt = 1, kind: 'text' | 'reasoning' = 'text'): RunEvent {
  return { type: 'delta', kind, text, attempt, runId: 'r' };
}

function committed(type: string, content?: string, rest: object = {}): RunEvent {
  const turns = content === undefined ? [] : [{ role: 'assistant', content, parts: [] }];
  return {
    type: 'transition',
    sequence: 1,
    from: 'PLANNING',
    to: 'IDLE',
    runId: 'r',
    event: { type, ...rest },
    turns,
  } as never;
}

async function show(events: readonly RunEvent[], how?: { isDialogue: boolean }) {
  const { shown, beside, printed } = screen(how);
  for (const event of events) await shown.show(event);
  return { beside, printed: printed() };
}

test('a reply is shown while it comes and not again once it is stored', async () => {
  const { printed } = await show([delta('It is '), delta('done.'), committed('model.replied', 'It is done.')]);
  expect(printed).toBe('support › It is done.\n');
});

test('what an attempt said that broke off does not count, and the next one begins anew', async () => {
  const failed = committed('model.attemptFailed', undefined, { retryInMs: 500 });
  const { printed } = await show([delta('It i'), failed, delta('Done.', 2), committed('model.replied', 'Done.')]);
  expect(printed.split('\n')).toEqual([
    'support › It i',
    '  ✗ what stands above was not stored and does not count',
    '  ✗ no answer; the model is asked again in 500 ms',
    '    MODEL_FAILED: HTTP 429\\u001b',
    'support › Done.',
    '',
  ]);
});

test.each(['model.failed', 'limit.met'])('what the last attempt said does not count after %s', async (type) => {
  const { printed } = await show([delta('It i'), committed(type)]);
  expect(printed).toBe('support › It i\n  ✗ what stands above was not stored and does not count\n');
});

test('a reply without a word is told', async () => {
  const { printed, beside } = await show([committed('model.replied', '')]);
  expect(printed).toBe('  the model replied without a word\n');
  expect(beside).toHaveLength(1);
});

test('a call that cannot run is told while another one runs', async () => {
  const calls = [
    { executionId: 'e1', verdict: 'settled' },
    { executionId: 'e2', verdict: 'start' },
  ];
  const { beside } = await show([committed('model.calledTools', '', { calls })]);
  expect(beside).toEqual(['  ✗ gone There is no such tool.']);
});

test('a later attempt voids an earlier one also without word of its end', async () => {
  const { printed } = await show([delta('It i'), delta('Done.', 2), committed('model.replied', 'Done.')]);
  expect(printed).toContain(
    'support › It i\n  ✗ what stands above was not stored and does not count\nsupport › Done.\n',
  );
});

test('what is stored counts where it differs from what was shown', async () => {
  const { printed } = await show([delta('It is'), committed('model.replied', 'Stored.')]);
  expect(printed).toBe('support › It is\n  ✗ what stands above was not stored and does not count\nsupport › Stored.\n');
});

test('reasoning is told from the reply', async () => {
  const { printed } = await show([delta('Hm.', 1, 'reasoning'), delta('Done.'), committed('model.replied', 'Done.')]);
  expect(printed).toBe('  thinks: Hm.\nsupport › Done.\n');
});

test('in a script the reply is printed once it is stored, and nothing else beside it', async () => {
  const events = [delta('It i'), delta('Do', 2), committed('model.replied', 'Done.\u001b[31m')];
  expect((await show(events, { isDialogue: false })).printed).toBe('Done.\\u001b[31m\n');
});
