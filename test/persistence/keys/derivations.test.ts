import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../../persistence/keys/content-digest.ts';
import { eventIdFromMessageId } from '../../../persistence/keys/event-id-from-message-id.ts';
import { lockKey } from '../../../persistence/keys/lock-key.ts';
import { saltedDigest } from '../../../persistence/keys/salted-digest.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const sessionId = '0190b2a4-5f6e-7c3d-8a9b-0c1d2e3f4a5b';

describe('lockKey', () => {
  test('is the documented derivation: two builds that differ would not exclude each other', () => {
    const first16 = sha256(`["lock","${sessionId}"]`).slice(0, 16);
    expect(lockKey(sessionId)).toBe(BigInt.asIntN(64, BigInt(`0x${first16}`)).toString());
    expect(lockKey(sessionId)).toBe('-685766696392911297');
  });

  test('does not depend on how the id is written', () => {
    expect(lockKey(sessionId.toUpperCase())).toBe(lockKey(sessionId));
  });

  test('differs between sessions, and is negative for half of them', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) =>
      lockKey(`${sessionId.slice(0, -4)}${String(index).padStart(4, '0')}`),
    );
    expect(new Set(keys).size).toBe(1_000);
    const negative = keys.filter((key) => key.startsWith('-')).length;
    expect(negative).toBeGreaterThan(400);
    expect(negative).toBeLessThan(600);
  });
});

describe('eventIdFromMessageId', () => {
  test('fits its column, whatever the message id is, and does not show it', () => {
    for (const messageId of ['anna@example.org', '😀'.repeat(255)]) {
      const eventId = eventIdFromMessageId(messageId);
      expect(eventId).toMatch(/^message:[0-9a-f]{64}$/);
      expect(eventId).not.toContain(messageId);
    }
  });

  test('is the documented derivation', () => {
    expect(eventIdFromMessageId('m"1')).toBe(`message:${sha256('["message","m\\"1"]')}`);
  });

  test('differs for ids that differ at all', () => {
    const ids = ['a', 'A', ' a', 'é', 'e\u0301', '1', '01'];
    expect(new Set(ids.map(eventIdFromMessageId)).size).toBe(ids.length);
  });
});

describe('saltedDigest', () => {
  test('is SHA-256 of the canonical JSON of salt and value', () => {
    expect(saltedDigest('s', { b: 1, a: 2 })).toBe(sha256('["s",{"a":2,"b":1}]'));
  });

  test('says nothing of equal payloads under other salts', () => {
    expect(saltedDigest('s1', { a: 1 })).not.toBe(saltedDigest('s2', { a: 1 }));
    expect(saltedDigest('s', '1')).not.toBe(saltedDigest('s1', ''));
  });
});

describe('contentDigest', () => {
  test('tells a repeat from a conflict', () => {
    expect(contentDigest({ text: 'a', parts: [] })).toBe(contentDigest({ parts: [], text: 'a' }));
    expect(contentDigest({ text: 'a', parts: [] })).not.toBe(contentDigest({ text: 'b', parts: [] }));
  });
});
