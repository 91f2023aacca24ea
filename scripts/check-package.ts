import { execFileSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { blocksOf } from '../test/docs/code-blocks.ts';
import { ConsumerProject } from './consumer-project.ts';
import { ENTRY_PEERS, entryGroups, findPeerViolations } from './entry-peers.ts';
import { findTarballViolations, MAX_PACKED_BYTES } from './find-tarball-violations.ts';
import { findMachinePath } from './find-text-violations.ts';
import { reportViolations } from './report-violations.ts';

/*
 * The package as others get it: packed once, and used from projects that have nothing else. Two lines of projects, one with the oldest
 * peers in range and one with the newest, each on the oldest Node and on ours. In a line, each group of entry points is tried with
 * its own optional peers and no others.
 */

const OLDEST_NODE = '22.18.0';
const EXAMPLE = 'examples/first-agent';
const SERVICE = 'examples/existing-service';
const REFUNDS = 'examples/refunds';

/**
 * The peers as old or as new as their ranges allow; how a user resolves modules, one way in each line since a compiler takes its time, and a
 * command that has to succeed.
 */
const LINES = {
  oldest: { isOldest: true, resolution: 'nodenext', command: ['demo', '--once', '--model', 'scripted'] },
  newest: { isOldest: false, resolution: 'bundler', command: ['migrate', '--database', '.turnlock'] },
} as const;
type Line = keyof typeof LINES;
type Nodes = readonly [oldest: string, ours: string];

const folder = mkdtempSync(join(tmpdir(), 'turnlock-package-'));
chmodSync(folder, 0o711); // run by root, the server of an example is another user and must get through
const startedAt = performance.now();
try {
  const violations = findPeerViolations(manifest);
  const tarball = pack(folder);
  const [nodes] = await Promise.all([installNodes(), checkTarball()]);
  const lines = (Object.keys(LINES) as Line[]).map((line) => checkLine(line, tarball, nodes));
  violations.push(...(await Promise.all(lines)).flat());
  console.log(`package: took ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  reportViolations('package', violations);

  async function checkTarball(): Promise<void> {
    const unpacked = join(folder, 'unpacked');
    execFileSync('sh', ['-c', `mkdir "${unpacked}" && tar -xzf "${tarball}" -C "${unpacked}" --strip-components=1`]);
    const paths = globSync('**/*', { cwd: unpacked }).filter((path) => statSync(join(unpacked, path)).isFile());
    const files = new Map(paths.map((path) => [path, readFileSync(join(unpacked, path), 'utf8')]));
    const { size } = statSync(tarball);
    console.log(`package: ${files.size} files, ${Math.round(size / 1_000)} kB packed`);
    violations.push(...findTarballViolations(files, manifest, findMachinePath));
    if (size > MAX_PACKED_BYTES) violations.push(`${size} bytes packed, at most ${MAX_PACKED_BYTES}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack(into: string): string {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', into], { stdio: ['ignore', 'inherit', 'inherit'] });
  return join(into, `${manifest.name}-${manifest.version}.tgz`);
}

async function installNodes(): Promise<Nodes> {
  const oldest = await ConsumerProject.create(join(folder, 'node'), { node: OLDEST_NODE });
  return [join(oldest.folder, 'node_modules/.bin/node'), process.execPath];
}

/** Tries every group of entries with the peers of one line; what is not ours is reported and is no violation. */
async function checkLine(line: Line, tarball: string, nodes: Nodes): Promise<string[]> {
  const { isOldest } = LINES[line];
  const wanted = (peers: readonly string[]) => Object.fromEntries(peers.map((peer) => [peer, rangeOf(peer, isOldest)]));
  const required = Object.keys(manifest.peerDependencies).filter((peer) => !(peer in manifest.peerDependenciesMeta));
  const pinned = isOldest ? wanted(required) : {};
  const bare = await ConsumerProject.create(join(folder, line), { ...pinned, [manifest.name]: `file:${tarball}` });
  const violations: string[] = [];
  for (const { peers, entries } of entryGroups()) {
    const at = join(folder, `${line}-${entries[0]?.replace(/\W+/g, '')}`);
    const project = peers.length > 0 ? await bare.extend(at, wanted(peers)) : bare;
    const versions = [...required, ...peers].map((peer) => `${peer} ${project.versionOf(peer)}`).join(', ');
    console.log(`package: ${entries.join(' ')} with ${versions}`);
    const found = await checkProject(project, entries, line, nodes);
    violations.push(...found.map((violation) => `${line} peers, ${peers.join(' ') || 'none optional'}: ${violation}`));
  }
  if (!isOldest) violations.push(...(await checkService(bare, line, nodes)));
  return violations;
}

/** The example of a service, on the server that it brings: with what its manifest names, and the required peers of the line. */
async function checkService(bare: ConsumerProject, line: Line, [, ours]: Nodes): Promise<string[]> {
  const { dependencies, allowScripts } = JSON.parse(readFileSync(`${SERVICE}/package.json`, 'utf8'));
  const isNew = ([name]: [string, unknown]) => name !== manifest.name && !(name in manifest.peerDependencies);
  const brought = Object.fromEntries(Object.entries<string>(dependencies).filter(isNew));
  const project = await bare.extend(join(folder, `${line}-service`), brought, allowScripts);
  const files = globSync('*.ts', { cwd: SERVICE });
  for (const file of files) project.write(file, readFileSync(`${SERVICE}/${file}`, 'utf8'));
  const [promised] = blocksOf(readFileSync(`${SERVICE}/README.md`, 'utf8'), 'text');
  const printed = await project.run('node', ['main.ts'], ours);
  const compiled = await compile(project, files, line);
  return printed === promised ? compiled : [...compiled, `the example of a service printed ${JSON.stringify(printed)}`];
}

/** Imports and compiles `entries`, alone in the project; with the embedded database, what a user does with it. */
async function checkProject(
  project: ConsumerProject,
  entries: readonly string[],
  line: Line,
  nodes: Nodes,
): Promise<string[]> {
  const names = entries.map((entry) => entry.replace(/^\./, manifest.name));
  const imports = names.map((name, index) => `import * as entry${index} from '${name}';`);
  const uses = names.map((name, index) => `if (Object.keys(entry${index}).length === 0) throw new Error('${name}');`);
  project.write('entries.ts', [...imports, ...uses, ''].join('\n'));
  for (const node of nodes) await project.run('node', ['entries.ts'], node);
  const hasExample = entries.includes('./pglite');
  if (hasExample) project.write('agent.ts', readFileSync(`${EXAMPLE}/agent.ts`, 'utf8'));
  const compiled = await compile(project, ['entries.ts', ...(hasExample ? ['agent.ts'] : [])], line);
  if (hasExample) return [...compiled, ...(await checkExample(project, line, nodes))];
  return entries.includes('.') ? [...compiled, ...(await checkMissingPeers(project, nodes))] : compiled;
}

async function compile(project: ConsumerProject, files: readonly string[], line: Line): Promise<string[]> {
  const { resolution } = LINES[line];
  const { ours, others } = await project.compile(files, resolution);
  const counted = [...others].map(([name, count]) => `${name} ${count}`).join(', ');
  if (counted !== '') console.log(`package: errors in declarations of others, ${resolution}: ${counted}`);
  return ours.map((found) => `${resolution}: ${found}`);
}

/** A real run from the tarball, and the commands. */
async function checkExample(project: ConsumerProject, line: Line, [oldest, ours]: Nodes): Promise<string[]> {
  const node = LINES[line].isOldest ? oldest : ours;
  const [promised] = blocksOf(readFileSync(`${EXAMPLE}/README.md`, 'utf8'), 'text');
  const refunds = LINES[line].isOldest ? [] : await checkRefunds(project, line, node);
  const printed = await project.run('node', ['agent.ts'], node);
  const version = await project.run('turnlock', ['--version'], node);
  await project.run('turnlock', LINES[line].command, node);
  return [
    ...refunds,
    ...(printed === promised ? [] : [`the example printed ${JSON.stringify(printed)}`]),
    ...(version.trim() === manifest.version ? [] : [`turnlock --version printed ${JSON.stringify(version)}`]),
  ];
}

/** The example of effect classes: its processes start each other from the tarball. */
async function checkRefunds(project: ConsumerProject, line: Line, node: string): Promise<string[]> {
  const files = globSync('**/*.ts', { cwd: REFUNDS });
  for (const file of files) project.write(file, readFileSync(`${REFUNDS}/${file}`, 'utf8'));
  const [promised] = blocksOf(readFileSync(`${REFUNDS}/README.md`, 'utf8'), 'text');
  const printed = await project.run('node', ['main.ts'], node);
  const compiled = await compile(project, files, line);
  return printed === promised ? compiled : [...compiled, `the example of refunds printed ${JSON.stringify(printed)}`];
}

/** An import without its peer must name the peer: Node's own error does, and ours where the package is loaded late. */
async function checkMissingPeers(project: ConsumerProject, nodes: Nodes): Promise<string[]> {
  const violations: string[] = [];
  for (const [entry, [peer]] of Object.entries(ENTRY_PEERS)) {
    if (peer === undefined) continue;
    const name = entry.replace(/^\./, manifest.name);
    const use = entry === './pglite' ? `await entry.pglite().connect({ environment: { uuid: () => '' } });` : '';
    project.write('missing.js', `import * as entry from '${name}';\n${use}\n`);
    for (const node of nodes) {
      const { code, stderr } = await project.end('node', ['missing.js'], node);
      if (code === 0) violations.push(`${name} works without ${peer}, which is named as its peer`);
      else if (!/no package|Cannot find package/.test(stderr) || !stderr.includes(peer))
        violations.push(`${name} without ${peer} fails and does not say why: ${stderr}`);
    }
  }
  return violations;
}

/** The range of a peer, or its lower bound alone. */
function rangeOf(peer: string, isOldest: boolean): string {
  const range = (manifest.peerDependencies as Record<string, string>)[peer] ?? '';
  return isOldest ? (/\d+\.\d+\.\d+/.exec(range)?.[0] ?? range) : range;
}
