import { systemEnvironment } from '../../environment.ts';
import { Backlog } from './backlog.ts';

/** How long after a failed connection none is tried, in milliseconds. */
const AGAIN_MS = 1_000;

/** How long a connection is waited for, and until what waits in it is sent, in milliseconds. */
const PATIENCE_MS = 2_000;

/** How often that is looked at, in milliseconds. */
const LOOK_MS = 10;

/** Bytes that may wait in an open connection, beyond which messages are let go: whoever reads so slowly sees what comes later. */
const MAX_WAITING_BYTES = 8_388_608;

/**
 * Sends texts to a WebSocket, as long as somebody is there. It never throws and `send` never waits: what cannot be sent is kept, the last
 * `maxBuffered` of it, and a lost connection is tried again when the next text comes. Each connection begins with the definitions of
 * the sessions of late, since whoever listens may be another one.
 */
export class Wire {
  readonly #url: string;
  readonly #kept: Backlog;
  #socket: WebSocket | null = null;
  #notBefore = 0;
  #isStopped = false;

  constructor(url: string, maxBuffered: number) {
    this.#url = url;
    this.#kept = new Backlog(maxBuffered);
  }

  send(text: string): void {
    if (this.#isStopped) return;
    const socket = this.#socket;
    const isOpen = socket?.readyState === WebSocket.OPEN;
    this.#kept.take(text, { definitionsOnly: isOpen });
    if (!isOpen) this.connect();
    else if (socket.bufferedAmount < MAX_WAITING_BYTES) socket.send(text);
  }

  /** Resolves when all that was sent so far is on its way; at once where nobody is there, and after two seconds in any case. */
  async drained(): Promise<void> {
    const until = systemEnvironment.monotonic() + PATIENCE_MS;
    while (this.#isBusy() && systemEnvironment.monotonic() < until) await systemEnvironment.sleep(LOOK_MS);
  }

  #isBusy(): boolean {
    const socket = this.#socket;
    if (this.#isStopped || socket === null) return false;
    return socket.readyState === WebSocket.CONNECTING || socket.bufferedAmount > 0;
  }

  /** Connects where nothing is connected, so that what was kept is sent. */
  connect(): void {
    if (this.#isStopped || this.#socket !== null || systemEnvironment.monotonic() < this.#notBefore) return;
    this.#notBefore = systemEnvironment.monotonic() + AGAIN_MS;
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.#url);
    } catch {
      return;
    }
    this.#socket = socket;
    const lost = () => {
      if (this.#socket === socket) this.#socket = null;
    };
    socket.addEventListener('open', () => {
      if (this.#isStopped) return socket.close();
      for (const text of this.#kept.texts()) socket.send(text);
      this.#kept.clearMessages();
    });
    socket.addEventListener('close', lost);
    socket.addEventListener('error', lost);
  }

  /** Sends nothing more. */
  stop(): void {
    this.#isStopped = true;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close();
  }
}
