import { expect, test } from 'vitest';
import { ChatScreen } from '../../../../adapters/cli/chat/chat-screen.ts';
import { coloursFor, type Terminal } from '../../../../adapters/cli/terminal.ts';
import type { RunEvent } from '../../../../index.ts';

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
  const shown = new ChatScreen(terminal, { agent: 'support', isDialogue, find: async () => null });
  return { shown, beside, printed: () => printed };
}

function delta(text: string, attempt = 1, kind: 'text' | 'reasoning' = 'text'): RunEvent {
  return { type: 'delta', kind, text, attempt, runId: 'r' };
}

function committed(type: string, content?: string, rest: object = {}): RunEvent {
  const turns = content === undefined ? [] : [{ role: 'assistant', content, parts: [] }];
  return { type: 'transition', sequence: 1, from: 'PLANNING', to: 'IDLE', event: { type, ...rest }, turns } as never;
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
    '  ✗ the model broke off; it is asked again in 500 ms',
    'support › Done.',
    '',
  ]);
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
