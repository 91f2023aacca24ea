/** A message of a client in PostgreSQL's protocol: its type, a letter, and the texts in it. */
export interface FrontendMessage {
  readonly type: string;
  readonly texts: readonly string[];
}

/**
 * The messages in what a client sent over one connection without TLS, from its beginning: `Q` with a statement, `P` (parse) with a name
 * and a statement, `B` (bind) with two names …
 */
export function frontendMessages(sent: Buffer): FrontendMessage[] {
  const messages: FrontendMessage[] = [];
  let at = sent.length >= 4 ? sent.readInt32BE(0) : 0; // the start-up message has no type
  while (at > 0 && at + 5 <= sent.length) {
    const type = String.fromCharCode(sent[at]!);
    const end = at + 1 + sent.readInt32BE(at + 1);
    messages.push({ type, texts: sent.toString('utf8', at + 5, end).split('\0') });
    at = end;
  }
  return messages;
}
