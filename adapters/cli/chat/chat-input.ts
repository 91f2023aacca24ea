import { createInterface, type Interface } from 'node:readline';

/** How many lines the arrow keys reach back. */
const KEPT_LINES = 200;

/** Where the lines come from. */
export interface ChatInput {
  /** The next line; `null` when no further one comes, or the person does not want to answer. */
  read(prompt: string): Promise<string | null>;
  /** No line is wanted any more: a `read` that waits gets `null`. */
  end(): void;
}

/**
 * Lines of a person at a terminal, who sees a prompt and has the usual keys. Between two reads the terminal is the system's: Ctrl-C is a
 * signal then, and what is typed meanwhile is read next. Ctrl-C clears a line that was begun; at an empty one it and Ctrl-D answer `null`.
 */
export function terminalInput(): ChatInput {
  const waiting: string[] = [];
  let history: string[] = [];
  let isOver = false;
  let close: () => void = () => undefined;
  return {
    async read(prompt) {
      if (isOver) return null;
      const next = waiting.shift();
      if (next !== undefined) {
        process.stdout.write(`${prompt}${next}\n`);
        return next;
      }
      return new Promise((resolve) => {
        const lines = createInterface({
          input: process.stdin,
          output: process.stdout,
          prompt,
          history,
          historySize: KEPT_LINES,
        });
        lines.on('history', (kept) => {
          history = [...kept];
        });
        lines.on('line', (line) => waiting.push(line));
        // What was pasted comes at once: every line of it is heard before the terminal is given back.
        lines.once('line', () => setImmediate(() => lines.close()));
        lines.on('SIGINT', () => (lines.line === '' ? lines.close() : clearLine(lines)));
        lines.once('close', () => {
          if (waiting.length === 0) process.stdout.write('\n');
          resolve(waiting.shift() ?? null);
        });
        close = () => lines.close();
        lines.prompt();
      });
    },
    end() {
      isOver = true;
      close();
    },
  };
}

function clearLine(lines: Interface): void {
  lines.write(null, { ctrl: true, name: 'e' });
  lines.write(null, { ctrl: true, name: 'u' });
}

/** Lines of a pipe or a file; no prompt is shown. */
export function pipedInput(): ChatInput {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const waiting: string[] = [];
  let isOver = false;
  let wake: () => void = () => undefined;
  lines.on('line', (line) => {
    waiting.push(line);
    wake();
  });
  lines.once('close', () => {
    isOver = true;
    wake();
  });
  return {
    async read() {
      while (waiting.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return waiting.shift() ?? null;
    },
    end() {
      waiting.length = 0;
      lines.close();
    },
  };
}
