/** A scheme as URLs have it. One letter and a colon are a drive. */
const SCHEME = /^\s*([a-z][a-z\d+.-]+):(\/)?/i;

/** What a slip makes of a URL: a scheme without its colon, or a user and password before a host. A path says so by how it begins. */
const MISTYPED = /^\s*(?![./~])(?:[a-z][\w+.-]*\W?\/\/|.*:[^/@]*@)/i;

/**
 * How to call a text in an error that is no path, since it looks like a URL of another kind than `file://`; `null` for any other text.
 * Nothing of what follows the scheme is in it: a password may stand there, and before a colon without a slash a name.
 */
export function refusedUrl(text: string): string | null {
  if (text.startsWith('file://')) return null;
  const found = SCHEME.exec(text);
  if (found === null) return MISTYPED.test(text) ? 'what looks like a mistyped URL' : null;
  return found[2] === undefined ? 'what looks like a URL' : `a URL of ${found[1]}:`;
}
