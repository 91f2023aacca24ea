/** The parts of package.json that say what is published and what a project has to bring. */
export interface PeerManifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Every entry point, and the optional peers that a project needs which imports it. The one place that says so. */
export const ENTRY_PEERS: Readonly<Record<string, readonly string[]>> = {
  '.': [],
  './machines': [],
  './persistence': [],
  './postgres': [],
  './pglite': ['@electric-sql/pglite', '@electric-sql/pglite-prepopulatedfs'],
  './ai-sdk': ['ai'],
  './mcp': ['@modelcontextprotocol/sdk'],
  './scripted': [],
  './http': [],
  './inspector': [],
  './telemetry': ['@opentelemetry/api'],
  './stately': ['@statelyai/inspect'],
  './migrations': [],
  './testing': ['fast-check', '@electric-sql/pglite', '@electric-sql/pglite-prepopulatedfs'],
};

/** Optional peers that no entry imports: an option of its functions asks for them. */
export const OPTION_PEERS: readonly string[] = ['gpt-tokenizer'];

/** Where {@link ENTRY_PEERS} and package.json disagree, one sentence each. */
export function findPeerViolations(
  manifest: PeerManifest,
  table = ENTRY_PEERS,
  asked: readonly string[] = OPTION_PEERS,
): string[] {
  const entries = entriesOf(manifest);
  const optional = Object.keys(manifest.peerDependenciesMeta).filter(
    (peer) => manifest.peerDependenciesMeta[peer]?.optional,
  );
  const named = [...Object.values(table).flat(), ...asked];
  return [
    ...without(entries, Object.keys(table)).map((entry) => `${entry} is exported and not in the table of entries`),
    ...without(Object.keys(table), entries).map((entry) => `${entry} is in the table of entries and not exported`),
    ...without(named, optional).map((peer) => `${peer} is in the table of entries and no optional peer`),
    ...without(optional, named).map(
      (peer) => `${peer} is an optional peer, and neither an entry nor an option needs it`,
    ),
    ...without(optional, Object.keys(manifest.peerDependencies)).map((peer) => `${peer} is optional and has no range`),
  ];
}

/** The entry points that hold code. */
export function entriesOf({ exports }: Pick<PeerManifest, 'exports'>): string[] {
  return Object.keys(exports).filter((entry) => entry !== './package.json');
}

/** The groups of entries that need the same optional peers; what needs none comes first. */
export function entryGroups(table = ENTRY_PEERS): { peers: readonly string[]; entries: readonly string[] }[] {
  const groups = Map.groupBy(Object.keys(table), (entry) => JSON.stringify(table[entry]));
  return [...groups]
    .map(([peers, entries]) => ({ peers: JSON.parse(peers) as string[], entries }))
    .sort((a, b) => a.peers.length - b.peers.length);
}

function without(all: readonly string[], some: readonly string[]): string[] {
  return all.filter((one) => !some.includes(one));
}
