import { type CutValue, MAX_SHOWN } from '../../../persistence/read-timeline-values.ts';
import { type Html, markup, said, saidInLines } from '../html.ts';

/** Texts that are longer are folded away. */
const MAX_OPEN_CHARACTERS = 600;

/** A text of others' as it reads, folded away where it is long, and cut where it is longer than what is read of one value. */
export function shownText({ text, length }: CutValue): Html {
  if (text.length <= MAX_OPEN_CHARACTERS) return markup`<p class="said">${saidInLines(text)}</p>`;
  const beginning = `${text.slice(0, 140).replace(/\s+/g, ' ')}…`;
  return markup`<details class="said-long"><summary>${said(beginning)} <span class="muted small">${counted(length, 'character')}</span></summary><p class="said">${saidInLines(text)}</p>${cutNote({ text, length })}</details>`;
}

/** JSON of others' behind a word, as it stands in the database. */
export function shownJson(name: string, value: CutValue | null): Html | null {
  if (value === null) return null;
  return markup`<details class="value"><summary>${name}${isSmall(value) && markup` <code class="glimpse">${said(oneLine(value.text))}</code>`}</summary><pre class="payload" tabindex="0" role="group" aria-label="${name}">${saidInLines(value.text)}</pre>${cutNote(value)}</details>`;
}

/** The same for a value that is at hand. */
export function shownObject(name: string, value: unknown): Html | null {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  return shownJson(name, { text: text.slice(0, MAX_SHOWN * 2), length: text.length });
}

/** `1 turn`, `2 turns`, `12,345 turns`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`;
}

/** A length of time as a person reads it beside others: `840 ms`, `2.4 s`, `3 min 5 s`. */
export function lasted(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const [minutes, seconds] = [Math.floor(ms / 60_000), Math.floor((ms % 60_000) / 1_000)];
  if (minutes < 60) return `${minutes} min ${seconds} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The beginning of an id, with the whole of it for who asks. */
export function shortId(id: string): Html {
  return markup`<code title="${id}">${id.slice(0, 8)}</code>`;
}

function isSmall({ text, length }: CutValue): boolean {
  return length === text.length && length <= 120;
}

function oneLine(text: string): string {
  return text.replace(/\n\s*/g, ' ');
}

function cutNote({ text, length }: CutValue): Html | null {
  if (length <= text.length) return null;
  return markup`<p class="muted small">The first ${counted(text.length, 'character')} of ${length.toLocaleString('en-GB')}. <code>turnlock show --full</code> prints all of it.</p>`;
}
