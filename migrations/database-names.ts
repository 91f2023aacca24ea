/** Names that a database may choose for itself. They end up in SQL: lower-case identifiers only. */
export interface DatabaseNames {
  /** The schema that holds everything of ours. Default `turnlock`. */
  readonly schema: string;
  /** Reads and writes the rows of one tenant at a time, under row-level security. Default `turnlock_runtime`. */
  readonly runtimeRole: string;
  /** Reads the rows of one tenant at a time, under row-level security, and writes nothing. Default `turnlock_reader`. */
  readonly readerRole: string;
  /** Looks across tenants, through audited functions. Default `turnlock_operator`. */
  readonly operatorRole: string;
  /** Creates sessions and enqueues messages from SQL, for any tenant. Default `turnlock_client`. */
  readonly clientRole: string;
  /** May move the clock. Never made by a migration: a test's set-up makes it. Default `turnlock_testing`. */
  readonly testingRole: string;
}

/** The names that a migration uses where nobody says otherwise. */
export const DEFAULT_DATABASE_NAMES: DatabaseNames = {
  schema: 'turnlock',
  runtimeRole: 'turnlock_runtime',
  readerRole: 'turnlock_reader',
  operatorRole: 'turnlock_operator',
  clientRole: 'turnlock_client',
  testingRole: 'turnlock_testing',
};

/**
 * The defaults with `given` laid over them.
 *
 * @throws RangeError for a name that is not a plain lower-case identifier of at most 63 characters.
 */
export function databaseNames(given: Partial<DatabaseNames> = {}): DatabaseNames {
  const names = { ...DEFAULT_DATABASE_NAMES, ...given };
  for (const [what, name] of Object.entries(names)) {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) {
      throw new RangeError(
        `database name refused: ${what} (found ${JSON.stringify(name)}, wanted [a-z_][a-z0-9_]{0,62})`,
      );
    }
  }
  return names;
}
