import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ENTRY_PEERS, entryGroups, findPeerViolations } from '../../scripts/entry-peers.ts';

const small = {
  exports: { '.': {}, './edge': {}, './package.json': './package.json' },
  peerDependencies: { edge: '^1.0.0', always: '^1.0.0' },
  peerDependenciesMeta: { edge: { optional: true } },
};
const table = { '.': [], './edge': ['edge'] };

test('the table of entries and package.json agree', () => {
  expect(findPeerViolations(manifest)).toEqual([]);
  expect(Object.keys(ENTRY_PEERS).length).toBeGreaterThan(7);
});

test.each<[string, Parameters<typeof findPeerViolations>]>([
  ['./new is exported and not in the table', [{ ...small, exports: { ...small.exports, './new': {} } }, table]],
  ['./old is in the table of entries and not exported', [small, { ...table, './old': [] }]],
  ['always is in the table of entries and no optional peer', [small, { ...table, '.': ['always'] }]],
  ['edge is an optional peer, and neither an entry nor an option needs it', [small, { '.': [], './edge': [] }, []]],
  ['edge is optional and has no range', [{ ...small, peerDependencies: {} }, table] as never],
])('%s', (sentence, [manifest, table, asked = []]) => {
  expect(findPeerViolations(manifest, table, asked)).toEqual([expect.stringContaining(sentence)]);
});

test('what needs no optional peer comes first, in one group', () => {
  expect(entryGroups({ './edge': ['edge'], '.': [], './more': [] })).toEqual([
    { peers: [], entries: ['.', './more'] },
    { peers: ['edge'], entries: ['./edge'] },
  ]);
});
