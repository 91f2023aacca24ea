/** The pages that say what holds, and by which test. */
export const PROVEN_PAGES: readonly string[] = ['docs/guarantees.md', 'docs/security.md'];

/** A test that the page names: the file in which it stands, and its title as it stands there. */
export interface Proof {
  path: string;
  title: string;
}

/**
 * The proofs of a page: in the last column of its tables a path in backticks, then the titles in that file, each in typographic quotes.
 */
export function readProofs(page: string): Proof[] {
  const cells = page.split('\n').flatMap((line) => /^\|.*\| (.*) \|$/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => {
    let path: string | undefined;
    const proofs: Proof[] = [];
    for (const [, file, title] of cell.matchAll(/`(test\/[^`]+\.ts)`|“([^”]+)”/g)) {
      if (file !== undefined) path = file;
      else if (path !== undefined && title !== undefined) proofs.push({ path, title });
    }
    return proofs;
  });
}
