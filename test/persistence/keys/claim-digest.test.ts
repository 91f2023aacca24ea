import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { claimDigest } from '../../../persistence/keys/claim-digest.ts';

const SESSION = '0198C5F0-0000-7000-8000-000000000009';

test('a digest of the key is that of the array which its comment names', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(claimDigest({ per: 'tenant' }, 'order 42')).toBe(sha256('["claim","tenant","order 42"]'));
  const session = SESSION.toLowerCase();
  expect(claimDigest({ per: 'session', sessionId: SESSION }, 'a')).toBe(sha256(`["claim","session","${session}","a"]`));
});

test('keys of another scope, another session, or that only run together, have other digests', () => {
  const scope = { per: 'session', sessionId: SESSION } as const;
  const digests = [
    claimDigest({ per: 'tenant' }, 'a'),
    claimDigest({ per: 'tenant' }, `${SESSION},a`),
    claimDigest(scope, 'a'),
    claimDigest({ ...scope, sessionId: `${SESSION.slice(0, -1)}8` }, 'a'),
    claimDigest(scope, 'A'),
    claimDigest(scope, 'a '),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});
