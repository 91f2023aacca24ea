import type { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { freshPglite } from '../support/pglite.ts';
import { describeSessionDelete } from './session-delete-suite.ts';

let sql: PGlite;
beforeAll(async () => {
  sql = await freshPglite();
});

describeSessionDelete(() => sql);
