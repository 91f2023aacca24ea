import { createRequire } from 'node:module';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { systemEnvironment } from '../../../environment.ts';
import { type Listing, readListing } from './mcp-listing.ts';
import type { McpSettings } from './mcp-settings.ts';
import { type OpenTransport, openTransport } from './open-transport.ts';
import type { RequestFate } from './request-fate.ts';

/** What `tools/call` takes. */
export interface CallParams {
  name: string;
  arguments: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

/** Who is told of what happens to a connection. */
export interface Listeners {
  onClosed(client: OpenClient): void;
  onListChanged(client: OpenClient): void;
}

/** The SDK gives up no sooner than a tool's own time is over: no timer holds longer. */
const NEVER_MS = 2 ** 31 - 1;

/** Milliseconds for an answer that has come whole to get through the SDK. */
const SETTLE_MS = 500;

const { version } = createRequire(import.meta.url)('turnlock/package.json') as { version: string };

/** One connection to a server, with what the server has. It is used until it closes, and then never again. */
export class OpenClient {
  readonly #settings: McpSettings;
  readonly #client = new Client({ name: 'turnlock', version }, { capabilities: {} });
  readonly #fates = new Map<number, RequestFate>();
  readonly #way: OpenTransport;
  #listing: Listing = new Map();
  #isClosed = false;
  #isRetired = false;
  /** Takes the request that is being sent. */
  #sending: RequestFate | null = null;

  constructor(settings: McpSettings, listeners: Listeners) {
    this.#settings = settings;
    this.#way = openTransport(settings.transport, this.#fates);
    this.#client.onclose = () => {
      this.#isClosed = true;
      listeners.onClosed(this);
    };
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => listeners.onListChanged(this));
    const { transport } = this.#way;
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      if (this.#sending !== null && 'id' in message) this.#fates.set(Number(message.id), this.#sending);
      return await send(message, options);
    };
  }

  get listing(): Listing {
    return this.#listing;
  }

  /** Nothing comes over it any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the server gave it a session. */
  get hasSession(): boolean {
    return this.#way.hasSession();
  }

  /** Connects and reads the list of tools, within the time for it. @throws whatever went wrong; nothing is left behind then. */
  async open(closing: AbortSignal): Promise<void> {
    const { connectTimeoutMs = 10_000 } = this.#settings;
    const over = new AbortController();
    const late = systemEnvironment.sleep(connectTimeoutMs, AbortSignal.any([over.signal, closing])).then(() => {
      throw new Error(`no answer within ${connectTimeoutMs} ms`);
    });
    try {
      await Promise.race([this.#connect(connectTimeoutMs), late]);
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      over.abort();
    }
  }

  async #connect(timeout: number): Promise<void> {
    await this.#client.connect(this.#way.transport, { timeout });
    await this.list();
  }

  /** Reads the list of tools anew. */
  async list(): Promise<Listing> {
    const { name, connectTimeoutMs = 10_000 } = this.#settings;
    this.#listing = await readListing(this.#client, name, connectTimeoutMs);
    return this.#listing;
  }

  /**
   * Calls a tool and resolves with what the server answered, whatever that is. When it throws, `fate` says what is known.
   *
   * @throws when `signal` aborts (the server is told), when the server answers with an error, and when no answer can come any more.
   */
  async call(params: CallParams, fate: RequestFate, signal: AbortSignal): Promise<unknown> {
    const lost = new AbortController();
    void fate.lost
      .then(() => systemEnvironment.sleep(SETTLE_MS, lost.signal))
      .then(() => {
        fate.isBroken = true;
        lost.abort(new Error('the connection broke before the answer came'));
      })
      .catch(() => undefined);
    this.#sending = fate;
    const answer = this.#client.request({ method: 'tools/call', params: { ...params } }, z.unknown(), {
      timeout: NEVER_MS,
      signal: AbortSignal.any([signal, lost.signal]),
      onresumptiontoken: (token) => {
        fate.resumeToken = token;
        fate.failedResumes = 0;
      },
    });
    this.#sending = null;
    try {
      return await answer;
    } finally {
      for (const [id, out] of this.#fates) if (out === fate) this.#fates.delete(id);
      lost.abort();
      if (this.#isRetired) this.retire();
    }
  }

  /** Closes it as soon as no call is out over it any more. */
  retire(): void {
    this.#isRetired = true;
    if (this.#fates.size === 0) void this.#client.close().catch(() => undefined);
  }

  /** Ends the connection, and the process where one was started. Never throws. */
  async close(): Promise<void> {
    if (!this.#isClosed) await this.#way.sayGoodbye();
    await this.#client.close().catch(() => undefined);
  }
}
