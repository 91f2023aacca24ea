import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { escapeText } from '../cli/escape-text.ts';

/** A piece of a page: made by {@link markup}, which escapes all that it is given. */
export type Html = HtmlEscapedString;

/** What may stand in a piece: text is escaped; `null`, `undefined` and booleans are nothing. */
export type Piece = Html | string | number | boolean | null | undefined | readonly Piece[];

/**
 * A piece of a page from a template. Every text in it is escaped, for elements and for quoted attributes: attributes always stand in quotes,
 * and no text of others' ever makes a tag, an attribute's name, a style, a script, or the beginning of an address.
 */
export function markup(strings: TemplateStringsArray, ...values: Piece[]): Html {
  return html(strings, ...values) as Html; // only a promise among the values would make it one
}

/**
 * A text of others' on one line: what would be invisible, move other text about or end the line is written out, as `\u202e`, and its
 * direction is kept from what stands around it.
 */
export function said(text: string): Html {
  return markup`<bdi>${escapeText(text)}</bdi>`;
}

const LINE_END = /\r\n|\r|\n/;

/** A text of others' with its lines and tabs, else as {@link said}: for elements that keep white space. */
export function saidInLines(text: string): Html {
  const lines = text.split(LINE_END).map((line) => line.split('\t').map(escapeText).join('\t'));
  return markup`<bdi>${lines.join('\n')}</bdi>`;
}

/** A text of others' in an attribute that is shown, on one line and visible. The value of a field is given as it is: it is sent back. */
export function inAttribute(text: string): string {
  return escapeText(text);
}
