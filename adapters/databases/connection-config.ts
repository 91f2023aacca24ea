import pg, { type PoolConfig } from 'pg';
import { TurnlockError } from '../../errors.ts';

/**
 * A URL or options of node-postgres as options. Nothing is opened.
 *
 * @throws OPTIONS_INVALID, with `about` as what was not accepted, when node-postgres cannot read them. A URL never gets into the message.
 */
export function connectionConfig(source: string | PoolConfig, about: { name: string; wanted: string }): PoolConfig {
  const config = typeof source === 'string' ? { connectionString: source } : source;
  if (typeof config !== 'object' || config === null) throw refuseConnection(kindOf(config), about);
  const { connectionString } = config;
  if (connectionString !== undefined && !/^(?:postgres(?:ql)?|socket):\/?\/?|^\//.test(connectionString)) {
    throw refuseConnection('text that is no URL of PostgreSQL', about);
  }
  if (connectionString !== undefined && isCutShort(connectionString)) {
    throw refuseConnection('a URL whose user or password is not percent-encoded', about, PERCENT_ENCODING);
  }
  try {
    new pg.Client(config); // parses everything and opens nothing
  } catch {
    const hint = connectionString === undefined ? undefined : PERCENT_ENCODING;
    throw refuseConnection('options that node-postgres cannot read', about, hint); // its error holds the URL with the password
  }
  return config;
}

const PERCENT_ENCODING =
  'In user and password of a URL write # as %23, / as %2F, ? as %3F, @ as %40, : as %3A and % as %25.';

/** Whether a URL ends its host before the `@` that was to come: a part of the password would be taken for a port, and be shown. */
function isCutShort(url: string): boolean {
  const [, host = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  const before = rest.split('@', 1)[0] ?? '';
  return !host.includes('@') && rest.includes('@') && !(before.includes('?') && before.includes('='));
}

/** The error of a `database` that is none, or of one of its options. */
export function refuseConnection(
  found: string,
  { name, wanted }: { name: string; wanted: string },
  hint?: string,
): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `database not accepted: ${name} (found ${found}, wanted ${wanted})`,
    ...(hint === undefined ? {} : { hint }),
  });
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
