import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { freshDatabase } from '../../support/fresh-database.ts';
import { describeRefusals } from './refusal-suite.ts';

describe('the schema refuses, on a server', () => {
  let client: pg.Client;
  beforeAll(async () => {
    const { url } = await freshDatabase();
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  afterAll(() => client.end());
  describeRefusals(() => client);
});
