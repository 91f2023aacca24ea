import { systemEnvironment } from '../../environment.ts';

/** How long after a failed connection none is tried, in milliseconds. */
const AGAIN_MS = 1_000;

/** Bytes that may wait in an open connection, beyond which messages are let go: whoever reads so slowly sees what comes later. */
const MAX_WAITING_BYTES = 8_388_608;

/**
 * Sends texts to a WebSocket, as long as somebody is there. It never throws and never waits: what cannot be sent is kept, the last
 * `maxBuffered` of it, and a lost connection is tried again when the next text comes.
 */
export class Wire {
  readonly #url: string;
  readonly #maxBuffered: number;
  #socket: WebSocket | null = null;
  #kept: string[] = [];
  #notBefore = 0;
  #isStopped = false;

  constructor(url: string, maxBuffered: number) {
    this.#url = url;
    this.#maxBuffered = maxBuffered;
  }

  send(text: string): void {
    if (this.#isStopped) return;
    const socket = this.#socket;
    if (socket?.readyState === WebSocket.OPEN) {
      if (socket.bufferedAmount < MAX_WAITING_BYTES) socket.send(text);
      return;
    }
    this.#kept.push(text);
    if (this.#kept.length > this.#maxBuffered) this.#kept.shift();
    if (socket === null && systemEnvironment.monotonic() >= this.#notBefore) this.#connect();
  }

  /** Connects, so that what was kept is sent. */
  #connect(): void {
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
      const kept = this.#kept;
      this.#kept = [];
      for (const text of kept) socket.send(text);
    });
    socket.addEventListener('close', lost);
    socket.addEventListener('error', lost);
  }

  /** Sends nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#kept = [];
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close();
  }
}
