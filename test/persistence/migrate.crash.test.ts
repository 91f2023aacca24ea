import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { checkSchema } from '../../persistence/migrate.ts';
import { connect } from '../adapters/databases/connect.ts';
import { type Child, spawnChild } from '../support/child.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const PROCESSES = 6;
const DATABASES = 10;

test('C56 six processes migrate ten fresh databases at once: each is migrated by one, and none fails', async () => {
  const children = Array.from({ length: PROCESSES }, () => spawnChild('test/persistence/migrate.child.ts'));
  await all(children, (child) => child.next('ready'));
  for (let round = 0; round < DATABASES; round += 1) {
    const { url } = await freshDatabase({ state: 'empty' });
    await all(children, async (child) => {
      child.send({ type: 'database', url });
      return await child.next('connected');
    });
    const results = await all(children, async (child) => {
      child.send({ type: 'go' });
      return await child.next('migrated');
    });
    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(results.map(({ applied }) => applied).sort()).toEqual([0, 0, 0, 0, 0, 1]);
    const database = await connect(postgres(url));
    await expect(checkSchema(database)).resolves.toBeUndefined();
    await database.close();
  }
});

async function all<Result>(children: readonly Child[], work: (child: Child) => Promise<Result>): Promise<Result[]> {
  return await Promise.all(children.map(work));
}
