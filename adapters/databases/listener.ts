import type { PoolConfig } from 'pg';
import type { ConnectOptions, DatabaseWarning, WakeUps } from '../../persistence/database.contract.ts';
import { connectError } from './connect-error.ts';
import { connectionConfig } from './connection-config.ts';
import { ListenConnection } from './listen-connection.ts';

/** The longest pause between two tries to connect, in milliseconds, before its half to one and a half times. */
const MAX_PAUSE_MS = 30_000;

/** By what, and where, hints are heard. */
export interface ListenerOptions extends ConnectOptions {
  /** A URL or options of node-postgres that lead to the server itself. */
  source: string | PoolConfig;
  /** Name of the channel. */
  channel: string;
}

/**
 * Hears NOTIFY over connections of its own: one for each subscription, opened anew whenever it breaks.
 *
 * What it cannot do is a warning, one for each time in which it is deaf, and never an error: those who are woken by it also look by
 * themselves.
 */
export class Listener implements WakeUps {
  readonly #options: ListenerOptions;
  readonly #config: PoolConfig;
  #saidIndirect = false;

  /** @throws OPTIONS_INVALID when the source cannot be read. Nothing is opened. */
  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#config = connectionConfig(options.source, { name: 'option listen', wanted: 'a URL or options of pg' });
  }

  subscribe(onWake: (sessionId?: string) => void): () => Promise<void> {
    const over = new AbortController();
    const ended = this.#keepListening(onWake, over.signal);
    return () => {
      over.abort();
      return ended;
    };
  }

  async #keepListening(onWake: (sessionId?: string) => void, signal: AbortSignal): Promise<void> {
    const { environment } = this.#options;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const connection = new ListenConnection({ ...this.#options, config: this.#config });
      const isUp = () => {
        failures = 0;
        if (connection.isIndirect) this.#warnOfPooler();
        onWake();
      };
      const reason = await connection.listen({ isUp, onWake, signal });
      if (signal.aborted) return;
      if (failures === 0) this.#warnOf(reason);
      const pauseMs = Math.min(MAX_PAUSE_MS, 250 * 2 ** failures) * (0.5 + environment.random());
      await environment.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  #warnOf(reason: unknown): void {
    const { message } = connectError({ options: this.#config as never }, reason);
    this.#warn({
      code: 'LISTEN_FAILED',
      message: `New work is found by polling alone until the connection that listens is back: ${message}`,
    });
  }

  #warnOfPooler(): void {
    if (this.#saidIndirect) return;
    this.#saidIndirect = true;
    this.#warn({
      code: 'LISTEN_INDIRECT',
      message:
        'The connection that listens ends at a pooler and not at the server: name the direct URL as `listen`, or notifications may not arrive.',
    });
  }

  #warn(warning: DatabaseWarning): void {
    try {
      this.#options.onWarning?.(warning);
    } catch {} // whoever is warned must not end the listening
  }
}
