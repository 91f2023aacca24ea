import type { PGlite } from '@electric-sql/pglite';
import { MikroORM } from '@mikro-orm/pglite';
import { afterEach, beforeEach } from 'vitest';
import { allEntities } from '../../../persistence/entities/all-entities.ts';
import { freshPglite } from '../../support/pglite.ts';
import { COMPARISON, describeDrift } from './drift-suite.ts';

let pglite: PGlite;
let orm: MikroORM;
beforeEach(async () => {
  pglite = await freshPglite();
  orm = await MikroORM.init({ ...COMPARISON, dbName: 'postgres', driverOptions: { pglite }, entities: allEntities });
});
afterEach(() => orm.close());

describeDrift(() => ({ orm, query: (text) => pglite.query(text) }));
