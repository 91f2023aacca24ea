import type { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { freshPglite } from '../support/pglite.ts';
import { describeTenancy } from './tenancy-suite.ts';

let sql: PGlite;
beforeAll(async () => {
  sql = await freshPglite();
});

describeTenancy(() => sql);
