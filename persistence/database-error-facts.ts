/** What may be said of an error of the database or of the way to it: names and codes, no statement, no parameter, no row. */
export interface DatabaseErrorFacts {
  sqlState?: string;
  constraint?: string;
  table?: string;
  /** Function of the server's source that raised it. */
  routine?: string;
  /** Code of the network or TLS error, or the driver's own sentence for it. */
  reason?: string;
  /** The text of a refusal that we wrote ourselves: it holds ids and states only. */
  says?: string;
  /** No SQLSTATE, but the network or the driver says that there is no connection. */
  noConnection: boolean;
  /** No SQLSTATE, but TLS or the driver's side of the login failed. */
  noLogin: boolean;
  /** The unit of work found another version in the row. */
  optimisticLock: boolean;
  /** The unit of work refused an entity before any statement. */
  ormMisuse: boolean;
  /** A policy of row-level security refused the row. */
  rowLevelSecurity: boolean;
}

/** Drivers wrap errors in each other; no more than this deep. */
const MAX_WRAPPERS = 5;

/** Classes of SQLSTATE. Node has codes of five capitals too (EPIPE, EPERM), all of which begin with E. */
const SQLSTATE = /^(?:[0-5][0-9A-Z]|F0|HV|P0|TL|XX)[0-9A-Z]{3}$/;

const NETWORK_CODES =
  /^(?:ECONN\w+|E(?:NET|HOST)\w+|ETIMEDOUT|EPIPE|EAI_\w+|ENOTFOUND|EADDRNOTAVAIL|ERR_STREAM_\w+|ERR_SOCKET_\w+)$/;

const TLS_CODES = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Sentences of pg, pg-pool and PGlite for which they have no code. */
const LOST_SENTENCES =
  /^(?:Connection terminated(?: unexpectedly| due to connection timeout)?|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end on the pool|PGlite is closed|Socket closed)$/;

const LOGIN_SENTENCES =
  /^(?:SASL: [\w-]+|The server does not support SSL connections|There was an error establishing an SSL connection)/;

/** What `error` says, or `null` when it comes neither from the database nor from the way to it. */
export function readDatabaseError(error: unknown): DatabaseErrorFacts | null {
  for (let inner = error, depth = 0; isObject(inner) && depth < MAX_WRAPPERS; inner = inner.cause, depth += 1) {
    const facts = readOne(inner);
    if (facts !== null) return facts;
  }
  return null;
}

function readOne(error: Readonly<Record<string, unknown>>): DatabaseErrorFacts | null {
  const message = textOf(error.message) ?? '';
  const code = textOf(error.code) ?? '';
  const name = textOf(error.name) ?? '';
  const facts = {
    constraint: textOf(error.constraint),
    table: textOf(error.table),
    routine: textOf(error.routine),
    noConnection: false,
    noLogin: false,
    optimisticLock: name === 'OptimisticLockError',
    ormMisuse: name === 'ValidationError' && 'entity' in error,
    rowLevelSecurity: error.routine === 'ExecWithCheckOptions' || message.includes('row-level security policy'),
  };
  if (SQLSTATE.test(code)) {
    return code.startsWith('TL')
      ? { ...facts, sqlState: code, says: firstLine(message) }
      : { ...facts, sqlState: code };
  }
  if (isNetworkCode(code, error)) return { ...facts, reason: code, noConnection: true };
  if (TLS_CODES.test(code)) return { ...facts, reason: code, noLogin: true };
  const lost = LOST_SENTENCES.exec(message)?.[0];
  if (lost !== undefined) return { ...facts, reason: lost, noConnection: true };
  const refused = LOGIN_SENTENCES.exec(message)?.[0];
  if (refused !== undefined) return { ...facts, reason: refused, noLogin: true };
  return facts.optimisticLock || facts.ormMisuse || name === 'DriverException' ? facts : null;
}

/** A missing or forbidden socket file has the code of any missing or forbidden file: only the system call tells. */
function isNetworkCode(code: string, error: Readonly<Record<string, unknown>>): boolean {
  return NETWORK_CODES.test(code) || (/^(ENOENT|EACCES)$/.test(code) && error.syscall === 'connect');
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
