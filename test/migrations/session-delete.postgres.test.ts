import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { describeSessionDelete } from './session-delete-suite.ts';

let sql: pg.Client;
beforeAll(async () => {
  sql = new pg.Client({ connectionString: (await freshDatabase()).url });
  await sql.connect();
});
afterAll(() => sql.end());

describeSessionDelete(() => sql);
