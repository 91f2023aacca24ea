import { expect, test } from 'vitest';
import { isVerdict } from '../../../adapters/tools/policy.ts';
import { requireApproval } from '../../../index.ts';

test.each<[string, object]>([
  ['names nobody', {}],
  ['has roles that are undefined', { roles: undefined }],
  ['has roles that are undefined beside another rule', { roles: undefined, notUser: true }],
  ['has roles that are no list', { roles: 'cfo' }],
  ['has users that are no texts', { users: [7] }],
  ['has a name that is none', { role: ['cfo'] }],
])('a rule whose approvers %s lets nobody in by mistake: it is refused, also in a verdict by hand', (_, approvers) => {
  expect(() => requireApproval({ approvers })).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }));
  const asked = { question: null, expiresInMs: null, approvers, onExpiry: 'failCall' };
  expect(isVerdict({ type: 'requireApproval', asked })).toBe(false);
});

test.each([{ notUser: true }, { notUser: false }, { users: [] }, { roles: ['cfo'], users: ['ada'] }])(
  'a rule whose approvers are %j is one',
  (approvers) => {
    expect(isVerdict(requireApproval({ approvers }))).toBe(true);
  },
);

test.each([{ expiresInMs: 'soon' }, { expiresInMs: 1e300 }, { expiresInMs: 0 }, { onExpiry: 'nope' }, { question: 7 }])(
  'a verdict by hand with %j is none',
  (odd) => {
    const asked = { question: null, expiresInMs: null, approvers: null, onExpiry: 'failCall', ...odd };
    expect(isVerdict({ type: 'requireApproval', asked })).toBe(false);
  },
);
