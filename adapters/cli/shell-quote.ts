/** `text` as one word of a POSIX shell; control characters in the form of `$'…'`, which bash, zsh and ksh read. */
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const quoted = text.replace(/['\\]|\p{Cc}|\p{Cf}|\u2028|\u2029/gu, (character) =>
    /['\\]/.test(character) ? `\\${character}` : `\\U${character.codePointAt(0)?.toString(16).padStart(8, '0')}`,
  );
  return `$'${quoted}'`;
}
