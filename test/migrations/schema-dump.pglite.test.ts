import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readSchema } from '../../scripts/read-schema.ts';
import { freshPglite } from '../support/pglite.ts';

test('docs/schema.sql is the schema of a migrated PGlite: tables, deferrability, functions, triggers, policies and rights', async () => {
  const committed = await readFile('docs/schema.sql', 'utf8');
  expect((await readSchema(await freshPglite())).dump).toBe(committed);
});
