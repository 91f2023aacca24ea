import { styleText } from 'node:util';
import { escapeJson } from './escape-text.ts';
import type { SharedOptions } from './shared-options.ts';

/** Colours by meaning; without a terminal they leave the text as it is. */
export type Colours = Record<ColourName, (text: string) => string>;

/** One of the colours that the command line uses. */
export type ColourName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Where a command prints. */
export interface Terminal {
  /** Whether JSON was asked for: then {@link Terminal.line} prints nothing. */
  readonly isJson: boolean;
  /** Whether a person looks at both outputs: progress and redrawn lines are for them alone. */
  readonly isInteractive: boolean;
  readonly colours: Colours;
  /** Columns, or 80 where nobody knows. */
  readonly columns: number;
  /** Prints a line for people on standard output. Escape whatever comes from outside first. */
  line(text?: string): void;
  /** Prints a piece of a line for people on standard output. Escape whatever comes from outside first. */
  piece(text: string): void;
  /** Prints one value as one line of JSON on standard output, where JSON was asked for. */
  json(value: unknown): void;
  /** Prints a line on standard error, where JSON was not asked for: progress, warnings, what is not the result. */
  note(text: string): void;
}

const NAMES: readonly ColourName[] = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'];

/** The terminal of this process. */
export function openTerminal({ json = false, color }: SharedOptions): Terminal {
  const isColoured = hasColours(process.stdout, color);
  return {
    isJson: json,
    isInteractive: !json && areTerminals(process.stdout, process.stderr) && process.env.TERM !== 'dumb',
    colours: coloursFor(isColoured && !json),
    columns: process.stdout.columns || 80,
    line: (text = '') => {
      if (!json) process.stdout.write(`${text}\n`);
    },
    piece: (text) => {
      if (!json) process.stdout.write(text);
    },
    json: (value) => {
      if (json) process.stdout.write(`${escapeJson(value)}\n`);
    },
    note: (text) => {
      if (!json) process.stderr.write(`${text}\n`);
    },
  };
}

function areTerminals(...streams: { isTTY?: boolean }[]): boolean {
  return streams.every(({ isTTY }) => isTTY === true);
}

/** Whether colours go to `stream`. Sources: no-color.org, and FORCE_COLOR as Node reads it. */
export function hasColours(stream: { isTTY?: boolean }, color?: boolean, env = process.env): boolean {
  if (color === false || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0';
  return Boolean(stream.isTTY) && env.TERM !== 'dumb';
}

/** The colours, or as many functions that change nothing. */
export function coloursFor(isColoured: boolean): Colours {
  const style = (name: ColourName) => (text: string) =>
    isColoured ? styleText(name, text, { validateStream: false }) : text;
  return Object.fromEntries(NAMES.map((name) => [name, style(name)])) as Colours;
}
