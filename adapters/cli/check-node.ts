import { createRequire } from 'node:module';

/**
 * What is wrong with `found`, a version of Node, for a package whose `engines` say `wanted`, as in `>=22.18`; `null` where it is new enough.
 * A part that is not named is 0.
 */
export function nodeTooOld(found: string, wanted: string): string | null {
  const [major, minor] = partsOf(wanted);
  const [foundMajor, foundMinor] = partsOf(found);
  if (foundMajor > major || (foundMajor === major && foundMinor >= minor)) return null;
  return `turnlock needs a newer Node (found ${found}, wanted ${wanted})`;
}

/**
 * Ends the process with exit code 1 and one line where its Node is too old. It imports nothing of ours: what an older Node does not have is
 * told by a syntax error otherwise, before a line of ours has run.
 */
export function checkNode(): void {
  const { engines } = createRequire(import.meta.url)('turnlock/package.json') as { engines: { node: string } };
  const problem = nodeTooOld(process.versions.node, engines.node);
  if (problem === null) return;
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

function partsOf(version: string): [major: number, minor: number] {
  const [, major = 0, minor = 0] = /(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return [Number(major), Number(minor)];
}
