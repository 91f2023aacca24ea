import { writeFile } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { databaseNames } from '../migrations/index.ts';
import { initialMigrationSql } from '../migrations/migration-20261129000000-initial.ts';
import { readSchema } from './read-schema.ts';

// Writes docs/schema.sql and migrations/schema-objects.ts anew, from a database that exists for the moment only.
const pglite = await PGlite.create({ loadDataDir: await dataDir() });
for (const statement of initialMigrationSql(databaseNames())) await pglite.query(statement);
const { dump, objects } = await readSchema(pglite);
await writeFile(new URL('../docs/schema.sql', import.meta.url), dump);
await writeFile(new URL('../migrations/schema-objects.ts', import.meta.url), objects);
await pglite.close();
