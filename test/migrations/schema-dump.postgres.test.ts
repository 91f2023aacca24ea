import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readSchema } from '../../scripts/read-schema.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';

test('docs/schema.sql is the schema of a migrated server: tables, deferrability, functions, triggers, policies and rights', async () => {
  const committed = await readFile('docs/schema.sql', 'utf8');
  const { url } = await freshDatabase();
  expect(await withClient(url, readSchema)).toBe(committed);
});
