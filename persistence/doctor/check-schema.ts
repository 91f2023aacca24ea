import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { Found } from './doctor-codes.ts';
import { RIGHT_OF_EVERYBODY, readSchemaObjects, type SchemaObject, schemaObjects } from './schema-objects.ts';
import { SCHEMA_PARTS } from './schema-parts.ts';

/**
 * What of the schema is not as this build's migrations make it: tables, columns, constraints, indexes, functions, triggers (also one that does
 * not fire), policies, and rights of everybody. What is there beside them is left alone: indexes, views and foreign keys may be yours.
 */
export async function checkSchemaObjects(store: Store): Promise<Found[]> {
  const texts = await readTexts(store);
  const there = new Map(schemaObjects(texts).map(({ name, digest }) => [name, digest]));
  const wanted = readSchemaObjects(store.database.migrations.objects);
  const known = new Set(wanted.map(({ name }) => name));
  const tooMuch = [...there.keys()].filter((name) => name.startsWith(RIGHT_OF_EVERYBODY) && !known.has(name));
  return [
    ...wanted.flatMap((object) => compare(object, there)),
    ...tooMuch.map((name): Found => ({ code: 'SCHEMA_DIFFERS', place: name, found: 'a right', wanted: 'none' })),
  ];
}

function compare({ name, digest }: SchemaObject, there: ReadonlyMap<string, string>): Found[] {
  const found = there.get(name);
  if (found === digest) return [];
  const said = found === undefined ? 'nothing of that name' : `another definition (${found})`;
  return [{ code: 'SCHEMA_DIFFERS', place: name, found: said, wanted: `that of this build (${digest})` }];
}

function readTexts(store: Store): Promise<string[]> {
  return inPatientTransaction(store, { tenantId: '' }, async (em) => {
    // With the schema in the path, names would be printed without it.
    await em.execute(`select set_config('search_path', 'pg_catalog', true)`);
    const texts: string[] = [];
    for (const [, query] of SCHEMA_PARTS) {
      texts.push(...((await em.execute(query)) as { text: string }[]).map(({ text }) => text.trimEnd()));
    }
    return texts;
  });
}
