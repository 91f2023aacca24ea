import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readSchema } from '../../scripts/read-schema.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';

test('docs/schema.sql is the schema of a migrated server: tables, deferrability, functions, triggers, policies and rights', async () => {
  const { url } = await freshDatabase();
  const { dump, objects } = await withClient(url, readSchema);
  expect(dump).toBe(await readFile('docs/schema.sql', 'utf8'));
  expect(objects).toBe(await readFile('migrations/schema-objects.ts', 'utf8'));
});
