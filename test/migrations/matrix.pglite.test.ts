import type { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { freshPglite } from '../support/pglite.ts';
import { describeMatrices } from './matrix-suite.ts';

let sql: PGlite;
beforeAll(async () => {
  sql = await freshPglite();
});

describeMatrices(() => sql);
