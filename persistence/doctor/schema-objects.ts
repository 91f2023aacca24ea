import { createHash } from 'node:crypto';

/** An object of the schema: what it is called, and what makes it another one. */
export interface SchemaObject {
  name: string;
  digest: string;
}

/** With what the name of a right begins that whoever is connected has. */
export const RIGHT_OF_EVERYBODY = 'right of everybody on ';

/** Hexadecimal digits of a digest: enough to tell two definitions from each other, which nobody makes on purpose. */
const DIGITS = 16;

/**
 * The objects that the rows of `SCHEMA_PARTS` say. Rights are left out but for those of everybody: which roles a database has is its owner's
 * business.
 */
export function schemaObjects(texts: readonly string[]): SchemaObject[] {
  return texts
    .filter((text) => !text.startsWith('GRANT ') || text.trimEnd().endsWith(' TO PUBLIC;'))
    .map((text) => ({ name: nameOf(text), digest: digestOf(text) }));
}

/** What it is and what it is called: the words of its statement up to the first that says how. */
function nameOf(text: string): string {
  const [first = ''] = text.split('\n', 1);
  const shapes = [
    /^CREATE (TABLE) turnlock\.(\S+)/,
    /^ALTER TABLE (turnlock\.\S+) ADD (CONSTRAINT) (\S+)/,
    /^CREATE (?:UNIQUE )?(INDEX) (\S+)/,
    /^CREATE OR REPLACE (FUNCTION) turnlock\.(\w+)/,
    /^CREATE (?:CONSTRAINT )?(TRIGGER) (\S+) .* ON turnlock\.(\S+)/,
    /^CREATE (POLICY) (\S+) ON turnlock\.(\S+)/,
    /^(GRANT) \S+ ON (.*) TO PUBLIC;/,
  ];
  for (const shape of shapes) {
    const found = shape.exec(first);
    if (found !== null) return wordsOf(found.slice(1));
  }
  return first;
}

function wordsOf([kind = '', ...names]: string[]): string {
  if (kind.startsWith('turnlock.')) return `constraint ${names[1]} on ${kind.slice('turnlock.'.length)}`;
  if (kind === 'GRANT') return `${RIGHT_OF_EVERYBODY}${names[0]}`;
  return `${kind.toLowerCase()} ${names.join(' on ')}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text.trimEnd()).digest('hex').slice(0, DIGITS);
}

/** As one line each, for a file. */
export function writeSchemaObjects(objects: readonly SchemaObject[]): string {
  return objects.map(({ name, digest }) => `${digest} ${name}`).join('\n');
}

/** What {@link writeSchemaObjects} wrote. */
export function readSchemaObjects(lines: string): SchemaObject[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => ({ digest: line.slice(0, DIGITS), name: line.slice(DIGITS + 1) }));
}
