import type { PGlite } from '@electric-sql/pglite';
import { endedByOwner } from './connect-error.ts';
import { PgliteWire, type Protocol } from './pglite-wire.ts';
import type { ConnectionSource, LentConnection } from './wire.contract.ts';

/** Lends the one connection of a PGlite to one borrower after the other, in the order in which they asked. */
export class PgliteSource implements ConnectionSource {
  readonly #pglite: PGlite;
  readonly #wire: PgliteWire;
  readonly #end: () => Promise<void>;
  #ending: Promise<void> | undefined;

  /** `end` closes what was opened for us. */
  constructor(pglite: PGlite, protocol: Protocol, end: () => Promise<void>) {
    this.#pglite = pglite;
    this.#wire = new PgliteWire(pglite, protocol);
    this.#end = end;
  }

  /** Others who use the same instance wait too: both of PGlite's locks are held, the one of its transactions and the one of its queries. */
  async borrow(): Promise<LentConnection> {
    if (this.#pglite.closed && this.#ending === undefined) throw endedByOwner('a PGlite');
    return await new Promise((resolve, reject) => {
      const turn = () =>
        new Promise<void>((done) =>
          resolve({ wire: this.#wire, giveBack: (state) => void this.#takeBack(state).then(done) }),
        );
      this.#pglite._runExclusiveTransaction(() => this.#pglite.runExclusive(turn)).catch(reject);
    });
  }

  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  /** There is no other connection to go on with, so a broken one is mended: whatever was open is rolled back. */
  async #takeBack({ isBroken }: { isBroken: boolean }): Promise<void> {
    if (isBroken) await this.#wire.send('rollback').catch(() => undefined);
  }
}
