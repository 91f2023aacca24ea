import pg from 'pg';

/** What the pool calls; the types of node-postgres do not let a subclass say so. */
type Connect = (callback?: (error: Error | null) => void) => unknown;
type End = (callback?: () => void) => unknown;

/**
 * A client that leaves nothing behind when it could not connect. That of node-postgres keeps its socket where the login failed on our side
 * (no password for a server that wants one): it keeps the process alive, and a DROP DATABASE waiting, until the server gives up after a
 * minute. And where the other end has gone silent a farewell is never answered: the process must be able to end all the same.
 */
export class TidyClient extends pg.Client {
  override connect = ((callback) => {
    const connect = pg.Client.prototype.connect.bind(this) as Connect;
    if (callback === undefined) return connect();
    return connect((error) => {
      if (error) this.#socket.destroy();
      callback(error);
    });
  }) as Connect as pg.Client['connect'];

  override end = ((callback) => {
    const ended = (pg.Client.prototype.end.bind(this) as End)(callback);
    this.#socket.unref?.();
    return ended;
  }) as End as pg.Client['end'];

  /** A stream of the user's own (`stream` of its options) may have no `unref`. */
  get #socket(): { destroy(): void; unref?(): void } {
    return (this as unknown as { connection: { stream: { destroy(): void; unref?(): void } } }).connection.stream;
  }
}
