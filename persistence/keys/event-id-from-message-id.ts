import { sha256Hex } from './sha256-hex.ts';

/**
 * The event id of a message to which the caller gave an id: `message:` and SHA-256 over the JSON array `["message", id]`, 72
 * characters. A digest, since event ids are hashed into the audit for ever and a caller's id may say something about a person.
 */
export function eventIdFromMessageId(messageId: string): string {
  return `message:${sha256Hex(JSON.stringify(['message', messageId]))}`;
}
