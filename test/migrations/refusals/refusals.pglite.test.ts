import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe } from 'vitest';
import { freshPglite } from '../../support/pglite.ts';
import { describeRefusals } from './refusal-suite.ts';

describe('the schema refuses, on PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await freshPglite();
  });
  describeRefusals(() => pglite);
});
