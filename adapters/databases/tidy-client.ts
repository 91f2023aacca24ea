import pg from 'pg';

/** What the pool calls; the types of node-postgres do not let a subclass say so. */
type Connect = (callback?: (error: Error | null) => void) => unknown;

/**
 * A client that leaves nothing behind when it could not connect. That of node-postgres keeps its socket where the login failed on our side
 * (no password for a server that wants one): it keeps the process alive, and a DROP DATABASE waiting, until the server gives up after a
 * minute.
 */
export class TidyClient extends pg.Client {
  override connect = ((callback) => {
    const connect = pg.Client.prototype.connect.bind(this) as Connect;
    if (callback === undefined) return connect();
    return connect((error) => {
      if (error) this.#destroySocket();
      callback(error);
    });
  }) as Connect as pg.Client['connect'];

  #destroySocket(): void {
    (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }
}
