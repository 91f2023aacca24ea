/**
 * What a terminal would act upon, or show in another order or not at all: control characters (ESC among them), separators of lines,
 * directions of writing, and lone surrogates. The joiners that emoji and scripts need are let through.
 */
const UNSAFE =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `text` on one line and harmless for a terminal, as JavaScript would write it: `\n`, `\u001b`. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) => NAMED[character] ?? escapeCharacter(character));
}

/** Lines of `text`, each harmless for a terminal. */
export function escapeLines(text: string): string[] {
  return text.split(/\r?\n/).map(escapeText);
}

/** `value` as JSON on one line, harmless for a terminal and still the same JSON. */
export function escapeJson(value: unknown): string {
  return escapeText(JSON.stringify(value) ?? 'null');
}

function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, place) => escapeUnit(character.charCodeAt(place))).join('');
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
