import type { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { freshPglite } from '../support/pglite.ts';
import { describeOwed } from './owed-suite.ts';

let sql: PGlite;
beforeAll(async () => {
  sql = await freshPglite();
});

describeOwed(() => sql);
