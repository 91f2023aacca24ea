import pg, { type PoolConfig } from 'pg';
import type { Environment } from '../../environment.ts';
import type { Limits } from '../../limits.ts';

/** What one connection that listens is made of. */
export interface ListenConnectionOptions {
  config: PoolConfig;
  channel: string;
  environment: Environment;
  limits: Limits;
}

/** What it tells, and until when. */
export interface Listening {
  /** Called once it listens. */
  isUp(): void;
  /** Called at each notification, with what it says. */
  onWake(payload?: string): void;
  /** Ends it. */
  signal: AbortSignal;
}

/** The connection is ours alone, and silent most of the time: what the role's time-outs and path are does not count. */
const OWN_SETTINGS =
  'set statement_timeout to 0; set idle_session_timeout to 0; set search_path to pg_catalog, pg_temp; set lock_timeout to 0';

/**
 * One connection on which LISTEN is active, from its opening to its end.
 *
 * A connection can die without a word: a firewall that forgot it, a machine that is gone. So it is asked every `heartbeatMs` whether its
 * backend still listens, and an answer that does not come within `statementTimeoutMs` is its end.
 */
export class ListenConnection {
  readonly #options: ListenConnectionOptions;
  readonly #client: pg.Client;
  /** Never rejects; resolves with why the connection is of no use any more. */
  readonly #broken: Promise<unknown>;
  #isIndirect = false;

  constructor(options: ListenConnectionOptions) {
    const { config, limits } = options;
    this.#options = options;
    this.#client = new pg.Client({
      application_name: 'turnlock-listen',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: limits.connectTimeoutMs,
      query_timeout: limits.statementTimeoutMs,
      ...config,
    });
    this.#broken = new Promise((resolve) => {
      this.#client.on('error', resolve); // stays: what a dead socket still says must not end the process
      this.#client.on('end', () => resolve(new Error('Connection ended')));
    });
  }

  /** Whether the other end is not the backend itself: a pooler names another process than the one that answers. */
  get isIndirect(): boolean {
    return this.#isIndirect;
  }

  /** Listens until `signal` aborts or the connection breaks. Resolves, when nothing of it is open any more, with why it broke. */
  async listen({ isUp, onWake, signal }: Listening): Promise<unknown> {
    const close = () => this.#destroy();
    const onNotification = ({ payload }: pg.Notification) => onWake(payload);
    signal.addEventListener('abort', close, { once: true });
    this.#client.on('notification', onNotification);
    try {
      if (signal.aborted) return signal.reason;
      await this.#client.connect();
      await this.#client.query(`${OWN_SETTINGS}; listen ${pg.escapeIdentifier(this.#options.channel)}`);
      await this.#check();
      isUp();
      return await this.#keepChecking(signal);
    } catch (error) {
      return error;
    } finally {
      signal.removeEventListener('abort', close);
      this.#client.removeListener('notification', onNotification);
      this.#destroy();
    }
  }

  async #keepChecking(signal: AbortSignal): Promise<unknown> {
    const { environment, limits } = this.#options;
    for (;;) {
      const over = new AbortController();
      const nextCheck = environment
        .sleep(limits.heartbeatMs, AbortSignal.any([signal, over.signal]))
        .catch(() => undefined);
      const reason = await Promise.race([this.#broken, nextCheck]);
      over.abort();
      if (reason !== undefined || signal.aborted) return reason;
      await this.#check();
    }
  }

  async #check(): Promise<void> {
    const { rows } = await this.#client.query<{ pid: number; listens: boolean }>(
      'select pg_backend_pid() as pid, $1 in (select pg_listening_channels()) as listens',
      [this.#options.channel],
    );
    this.#isIndirect = rows[0]?.pid !== (this.#client as unknown as { processID: number | null }).processID;
    if (rows[0]?.listens !== true) throw new Error('Nothing is listened to on this connection');
  }

  /** At once and without a farewell: a dead connection would not answer it, and the server rolls nothing back. */
  #destroy(): void {
    (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }
}
