import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { describeChain } from './chain-suite.ts';

let sql: pg.Client;
beforeAll(async () => {
  sql = new pg.Client({ connectionString: (await freshDatabase()).url });
  await sql.connect();
});
afterAll(() => sql.end());

describeChain(() => sql);
