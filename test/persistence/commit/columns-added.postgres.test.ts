import { expect, test } from 'vitest';
import { readTransitions } from '../../../persistence/read-transitions.ts';
import { insertSession, openStore } from '../../support/open-store.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { acquire, eventsOfRun, hold, take } from './story.ts';

onPostgres((database) => {
  test('a process of an older build goes on, over the connections that it has, while a later migration adds columns', async () => {
    const store = await openStore(database());
    const tables = await database().query(
      `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'turnlock'::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'agent%'`,
    );
    const addColumns = async (name: string) => {
      for (const { relname } of tables) {
        await database().query(`ALTER TABLE turnlock.${relname} ADD COLUMN ${name} text NOT NULL DEFAULT 'later'`);
      }
    };
    const session = await insertSession(store);
    const run = eventsOfRun();
    await take(store, session, run.messaged, acquire);
    await addColumns('later');
    await take(store, session, run.calledTools, hold(1));
    await addColumns('still_later');
    await take(store, session, run.settled, hold(1));
    await take(store, session, run.replied, hold(1));
    const types = (await readTransitions(store, session)).map(({ type }) => type);
    expect(types).toEqual(['user.messaged', 'model.calledTools', 'tool.settled', 'model.replied']);
    const backends = await database().query(
      `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(backends).toEqual([{ count: 1 }]);
  });
});
