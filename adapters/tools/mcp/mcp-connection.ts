import { systemEnvironment } from '../../../environment.ts';
import { TurnlockError } from '../../../errors.ts';
import { redact } from '../../models/ai-sdk/redact.ts';
import { isHttp } from './check-mcp-settings.ts';
import type { McpSettings } from './mcp-settings.ts';
import { OpenClient } from './open-client.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

/** Characters from which on a value is not a mere word. */
const MIN_SECRET = 8;

/** Who is told of what a connection comes to know. */
export interface ConnectionListeners {
  /** The list may be another: after a new connection, or because the server says so. */
  onListed(client: OpenClient): void;
  warn(code: string, message: string): void;
}

/**
 * The way to one server: connected when it is needed, and again after a loss. Between two attempts there is a pause that doubles, up to
 * ten seconds, until a call is answered: a server that dies each time is not started as often as it can.
 */
export class McpConnection {
  readonly #settings: McpSettings;
  readonly #listeners: ConnectionListeners;
  readonly #closing = new AbortController();
  #client: Promise<OpenClient> | null = null;
  /** All that are not closed yet. */
  readonly #open = new Set<OpenClient>();
  #failures = 0;
  /** On the monotonic clock. */
  #notBefore = 0;

  constructor(settings: McpSettings, listeners: ConnectionListeners) {
    this.#settings = settings;
    this.#listeners = listeners;
  }

  /**
   * The connection that is up, or the next one.
   *
   * @throws TOOL_SERVER_FAILED when there is none. Nothing was called then.
   * @throws the reason of `signal` as soon as it aborts.
   */
  async client(signal?: AbortSignal): Promise<OpenClient> {
    if (this.#closing.signal.aborted) throw this.failed(new Error('it was closed'));
    this.#client ??= this.#connect();
    if (signal === undefined) return await this.#client;
    const over = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal });
    });
    try {
      return await Promise.race([this.#client, aborted]);
    } finally {
      over.abort();
    }
  }

  /** A call was answered: the server works. */
  noteAnswer(): void {
    this.#failures = 0;
  }

  /** The session at the server is gone: the next call makes another. Other calls that are still out come to their end. */
  async drop(client: OpenClient): Promise<void> {
    await this.#forget(client);
    client.retire();
  }

  /** Ends it for good. Never throws. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('it was closed'));
    await this.#client?.catch(() => null);
    await Promise.all([...this.#open].map((client) => client.close()));
  }

  async #connect(): Promise<OpenClient> {
    const client = new OpenClient(this.#settings, {
      onClosed: (closed) => void this.#lost(closed),
      onListChanged: (changed) => void this.#listAgain(changed),
    });
    this.#open.add(client);
    try {
      await systemEnvironment.sleep(this.#notBefore - systemEnvironment.monotonic(), this.#closing.signal);
      await client.open(this.#closing.signal);
      this.#listeners.onListed(client);
      return client;
    } catch (error) {
      this.#open.delete(client);
      this.#client = null;
      this.#pause();
      throw this.failed(error);
    }
  }

  #pause(): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#notBefore = systemEnvironment.monotonic() + pauseMs;
    this.#failures += 1;
  }

  async #lost(client: OpenClient): Promise<void> {
    this.#open.delete(client);
    if (!(await this.#forget(client)) || this.#closing.signal.aborted) return;
    this.#pause();
    this.#listeners.warn('MCP_CONNECTION_LOST', `The connection to the MCP server ${this.#settings.name} is gone.`);
  }

  /** Whether it was the one in use. */
  async #forget(client: OpenClient): Promise<boolean> {
    const used = this.#client;
    if (used === null || (await used.catch(() => null)) !== client || this.#client !== used) return false;
    this.#client = null;
    return true;
  }

  async #listAgain(client: OpenClient): Promise<void> {
    try {
      if ((await this.#client) !== client) return;
      await client.list();
      this.#listeners.onListed(client);
    } catch (error) {
      if (client.isClosed) return;
      this.#listeners.warn('MCP_LIST_FAILED', this.failed(error).message);
    }
  }

  /** What went wrong with the server, without secrets. */
  failed(error: unknown, retryable = true): TurnlockError {
    return new TurnlockError('TOOL_SERVER_FAILED', {
      message: `no use of the MCP server ${this.#settings.name}: ${this.reasonOf(error)}`,
      retryable,
    });
  }

  /** What an error says, for people, without headers and variables that were given to the server. */
  reasonOf(error: unknown): string {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    const because = cause instanceof Error ? ` (${cause.message || (cause as { code?: string }).code})` : '';
    return redact(`${message}${because}`, this.#secrets());
  }

  /** What the server said, word for word, but without what it was given as headers and variables. */
  withoutSecrets(text: string): string {
    const secrets = this.#secrets().filter((secret) => secret.length >= MIN_SECRET);
    return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text);
  }

  #secrets(): string[] {
    const { transport } = this.#settings;
    const given = Object.values((isHttp(transport) ? transport.headers : transport.env) ?? {});
    return given.flatMap((value) => [value, ...value.split(/\s+/)]);
  }
}
