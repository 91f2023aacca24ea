import { schemaObjects, writeSchemaObjects } from '../persistence/doctor/schema-objects.ts';
import { SCHEMA_PARTS } from '../persistence/doctor/schema-parts.ts';

/** Anything that answers a query: a pg client, a PGlite instance. */
export interface SchemaSource {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** The schema `turnlock` as the catalogs tell it. */
export interface SchemaTexts {
  /** In a fixed order: `docs/schema.sql`. */
  dump: string;
  /** `migrations/schema-objects.ts`, with which doctor compares what it finds. */
  objects: string;
}

/** Reads it. */
export async function readSchema(source: SchemaSource): Promise<SchemaTexts> {
  const sections: string[] = [HEAD];
  const objects: string[] = [];
  for (const [title, query] of SCHEMA_PARTS) {
    // Without the schema in the path every name is printed with it.
    await source.query('SET search_path = pg_catalog');
    const { rows } = (await source.query(query)) as { rows: { text: string }[] };
    const texts = rows.map(({ text }) => text.trimEnd());
    sections.push(`-- ${title}\n`, ...texts);
    objects.push(...texts);
  }
  await source.query('RESET search_path');
  const lines = writeSchemaObjects(schemaObjects(objects));
  return {
    dump: `${sections.join('\n')}\n`,
    objects: `${OBJECTS_HEAD}export const SCHEMA_OBJECTS = \`\n${lines}\n\`;\n`,
  };
}

const HEAD = `-- The whole schema, as the catalogs tell it after every migration. Written by \`node scripts/dump-schema.ts\`; a test compares it with a
-- fresh database. For reading and reviewing: migrations are what runs.
`;

const OBJECTS_HEAD = `/**
 * The objects of the schema after every migration, a line each: the begin of a SHA-256 of its definition, and its name. Doctor compares a
 * database with them. Written by \`node scripts/dump-schema.ts\`; a test compares it with a fresh database.
 */
`;
