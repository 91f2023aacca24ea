import { openOrm } from '../../../adapters/databases/open-orm.ts';
import { readServerFacts } from '../../../adapters/databases/server-facts.ts';
import type { ConnectionSource, Wire } from '../../../adapters/databases/wire.contract.ts';
import type { ConnectOptions, Database, DatabaseAdapter } from '../../../persistence/database.contract.ts';

/** A wire of which something is changed. */
export type WireChange = (wire: Wire) => Partial<Wire>;

/** A sound adapter, but for the statements and answers on their way. `openSource` opens one more way to the same database. */
export function overWire(
  sound: DatabaseAdapter,
  openSource: (options: ConnectOptions) => Promise<ConnectionSource>,
  change: WireChange,
): DatabaseAdapter {
  return {
    kind: sound.kind,
    async connect(options) {
      const database = await sound.connect(options);
      const source = changedSource(await openSource(options), change);
      const orm = await openOrm({ source, environment: options.environment, schema: database.schema });
      await readServerFacts(orm, database.schema); // tells MikroORM the database's name, for which it would else look
      const close = async () => {
        await orm.close();
        await source.close();
        await database.close();
      };
      return { ...database, orm, close };
    },
  };
}

function changedSource(source: ConnectionSource, change: WireChange): ConnectionSource {
  return {
    async borrow() {
      const { wire, giveBack } = await source.borrow();
      const own: Wire = { send: (sql, values) => wire.send(sql, values), query: (query) => wire.query(query) };
      return { wire: { ...own, ...change(own) }, giveBack };
    },
    close: () => source.close(),
  };
}

/** A sound adapter, but for some members of its database. */
export function overDatabase(
  sound: DatabaseAdapter,
  change: (database: Database) => Partial<Database>,
): DatabaseAdapter {
  return {
    kind: sound.kind,
    async connect(options) {
      const database = await sound.connect(options);
      return { ...database, ...change(database) };
    },
  };
}

/** Statements that are changed before they are sent. */
export function sending(change: (sql: string) => string): WireChange {
  return ({ send }) => ({ send: (sql, values) => send(change(sql), values) });
}
