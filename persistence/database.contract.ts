import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Environment } from '../environment.ts';
import type { Limits } from '../limits.ts';

/** Where the rows are: a PostgreSQL server, or PGlite inside this process. */
export type DatabaseKind = 'postgres' | 'pglite';

/** What `createRuntime` takes as its database. Nothing is opened before {@link DatabaseAdapter.connect}. */
export interface DatabaseAdapter {
  readonly kind: DatabaseKind;
  /**
   * Opens the database and proves that it answers. It migrates nothing.
   *
   * @throws DATABASE_UNREACHABLE, DATABASE_LOGIN_REFUSED, DATABASE_UNSUPPORTED when there is no server of use at the other end.
   * @throws DATA_DIRECTORY_IN_USE, DATA_DIRECTORY_INVALID for a directory that PGlite must not open.
   */
  connect(options: ConnectOptions): Promise<Database>;
}

/** What a database needs of the runtime. */
export interface ConnectOptions {
  environment: Environment;
  limits: Limits;
  /** Told once of each thing about the server that weakens a guarantee. Absent: nobody is told. */
  onWarning?: (warning: DatabaseWarning) => void;
}

/** A set-up that works and promises less than it could. */
export interface DatabaseWarning {
  /**
   * - `FSYNC_OFF`, `SYNCHRONOUS_COMMIT_OFF`: the server may lose acknowledged commits when its machine loses power;
   * - `RLS_BYPASSED`: the role owns the tables, is a superuser or has BYPASSRLS, so tenants are separated by our statements alone;
   * - `LISTEN_FAILED`: hints of new work do not arrive for the time being, so workers find it by polling alone;
   * - `LISTEN_INDIRECT`: the connection that listens ends at a pooler, which may swallow them.
   */
  readonly code: 'FSYNC_OFF' | 'SYNCHRONOUS_COMMIT_OFF' | 'RLS_BYPASSED' | 'LISTEN_FAILED' | 'LISTEN_INDIRECT';
  /** One sentence for people, without secrets. */
  readonly message: string;
}

/** An open database. */
export interface Database {
  readonly kind: DatabaseKind;
  /** Our own, with our entities, whatever MikroORM the user has beside it. */
  readonly orm: MikroORM;
  /** Schema that holds everything of ours. */
  readonly schema: string;
  /** The role that every transaction takes on by `SET LOCAL ROLE`; `null`: the one that it is connected as. */
  readonly runtimeRole: string | null;
  /** Whether all transactions take turns on one connection. */
  readonly singleConnection: boolean;
  /** Whether the process that had this database before is known to be dead: what its leases hold is free at once. */
  readonly tookOverDeadHolder: boolean;
  readonly migrations: MigrationSet;
  /** Where other processes say that there is work; `null`: they cannot, and workers find it by polling. */
  readonly wakeUps: WakeUps | null;
  /** Looks at the server again, as a migration may have changed who owns the tables. What it finds also goes to `onWarning`, once each. */
  reviewSetup(): Promise<readonly DatabaseWarning[]>;
  /** While `work` runs, answers of the database may take as long as they take: a migration's do. */
  unhurried<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The transaction that `em` is in, as a transactional tool gets it. */
  toolTransaction(em: EntityManager): Promise<ToolTransaction>;
  /** Closes what we opened: never a pool, a MikroORM or a PGlite that was handed in. Repeating it does nothing. */
  close(): Promise<void>;
}

/** One statement of a tool, in the form of node-postgres. */
export interface ToolQuery {
  text: string;
  values?: readonly unknown[];
  rowMode?: 'array';
  /** How columns are read, in place of what node-postgres does. */
  types?: { getTypeParser(oid: number, format?: never): unknown };
}

/** The answer to it, in the form of node-postgres. */
export interface ToolQueryResult {
  rows: unknown[];
  rowCount: number | null;
  /** First word of the command's tag. */
  command: string;
  oid: number;
  fields: { name: string; dataTypeID: number }[];
}

/** A transaction of ours in the hands of a tool. */
export interface ToolTransaction {
  /** Bound to the transaction, with the entities of the program where it handed its MikroORM in. */
  readonly em: EntityManager;
  /** @throws TRANSACTION_CONTROL for a statement that would end the transaction, TRANSACTION_OVER once it was closed. */
  query(query: ToolQuery): Promise<ToolQueryResult>;
  /** Takes no further statement, and resolves when the last one that was sent has its answer. */
  close(): Promise<void>;
  /** The error of the first statement that failed; `undefined` where none did. */
  readonly firstError: unknown;
  /** Whether the connection is of no use any more. */
  readonly isBroken: boolean;
}

/** Hints that a session may owe work. Never the truth: some may be missed, some say nothing new. */
export interface WakeUps {
  /**
   * Calls `onWake` at each hint, with the id of its session, and without one after every time in which hints may have been missed, until
   * the returned function is called; that resolves when nothing of it is open any more. It throws nothing: what fails goes to `onWarning`,
   * and is tried again.
   */
  subscribe(onWake: (sessionId?: string) => void): () => Promise<void>;
}

/** The migrations of this build, for the schema of one database. */
export interface MigrationSet {
  /** Oldest first. */
  readonly migrations: readonly { readonly name: string; readonly statements: readonly string[] }[];
  /** The objects that the migrations make, a line each: digest and name. */
  readonly objects: string;
  /** The statements that give an existing role the rights of a runtime, or of who only reads. */
  grantsFor(kind: 'runtime' | 'reader', role: string): readonly string[];
  /** What a role that may create roles has to run, given the names of those that exist. */
  missingRoleStatements(existing: readonly string[]): readonly string[];
}
