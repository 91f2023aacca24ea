/** East Asian wide and emoji: two columns. Near enough for a table. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Combining marks (selectors of variants among them) and joiners take no column. */
const NARROW = /\p{M}|\u200c|\u200d/u;

/** Columns that `text` takes in a terminal. Without colours. */
export function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + widthOfCharacter(character), 0);
}

/** `text` in at most `columns`, with an ellipsis where something was cut. */
export function shorten(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const character of text) {
    width += widthOfCharacter(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

function widthOfCharacter(character: string): number {
  if (NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
