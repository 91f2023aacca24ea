import type { Database, DatabaseAdapter } from '../../persistence/database.contract.ts';

/** A database that is opened once, however often it is connected to. */
export interface SharedDatabase extends AsyncDisposable {
  /** Hands out the one database; closing what it hands out does nothing. */
  readonly adapter: DatabaseAdapter;
}

/** Opens `adapter` with the first use and closes it at the end: a command that looks before it acts opens an embedded database once. */
export function shareDatabase(adapter: DatabaseAdapter): SharedDatabase {
  let opened: Promise<Database> | undefined;
  return {
    adapter: {
      kind: adapter.kind,
      async connect(options) {
        opened ??= adapter.connect(options);
        return { ...(await opened), close: async () => undefined };
      },
    },
    async [Symbol.asyncDispose]() {
      const database = await opened?.catch(() => undefined);
      await database?.close();
    },
  };
}
