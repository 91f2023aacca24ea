import { MikroORM } from '@mikro-orm/postgresql';
import { afterEach, beforeEach } from 'vitest';
import { allEntities } from '../../../persistence/entities/all-entities.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { COMPARISON, describeDrift } from './drift-suite.ts';

let orm: MikroORM;
beforeEach(async () => {
  orm = await MikroORM.init({ ...COMPARISON, clientUrl: (await freshDatabase()).url, entities: allEntities });
});
afterEach(() => orm.close());

describeDrift(() => ({ orm, query: (text) => orm.em.getConnection().execute(text) }));
