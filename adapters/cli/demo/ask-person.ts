import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../terminal.ts';
import type { AskPerson, Verdict } from './play.ts';

/** What comes next, as a person at the terminal chose. */
export type NextStep = '1' | '2' | 'show' | 'quit';

const VERDICTS: Readonly<Record<string, Verdict>> = { s: 'succeeded', f: 'failed', r: 'runAgain' };

const STEPS: Readonly<Record<string, NextStep>> = {
  '1': '1',
  '2': '2',
  s: 'show',
  show: 'show',
  q: 'quit',
  quit: 'quit',
};

/** Asks the person at the terminal about a call whose outcome is unknown. */
export const askPerson: AskPerson = async ({ key }) => {
  const question = `
        The call has the key …${key.slice(-6)}; the payments service wrote above what it did with it.
        [s] it happened   [f] it did not happen   [r] run it again, with the same key   > `;
  return VERDICTS[await ask(question, Object.keys(VERDICTS))] ?? 'succeeded';
};

/** Asks what comes next; the end of the input is the end. */
export async function chooseNext({ colours: { bold } }: Terminal): Promise<NextStep> {
  const question = `
${bold('Next?')}  [1] kill an idempotent refund   [2] kill a nonRepeatable one   [s] show the session   [q] quit   > `;
  return STEPS[await ask(question, Object.keys(STEPS))] ?? 'quit';
}

/** Repeats `question` until one of `answers` is given. Without further input it is an empty text. */
async function ask(question: string, answers: readonly string[]): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  lines.once('SIGINT', () => process.exit(130)); // the terminal hands Ctrl-C to whoever reads it
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    for (;;) {
      const given = (await Promise.race([lines.question(question), closed])).trim().toLowerCase();
      if (answers.includes(given) || process.stdin.readableEnded) return given;
    }
  } finally {
    lines.close();
  }
}
