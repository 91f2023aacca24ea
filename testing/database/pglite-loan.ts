import { openPgliteKitDatabase, type PgliteKitDatabase } from './pglite-database.ts';

/** Milliseconds after the last loan until what nobody has is closed. */
const KEPT_MS = 1_000;

const free: PgliteKitDatabase[] = [];
let loans = 0;
let closing: NodeJS.Timeout | undefined;

/**
 * The right of one check, or of one harness, to a PGlite of this Node process: nobody else has it meanwhile. Opening and migrating one takes
 * seconds, and a run a fraction of one, so the next loan gets it after {@link giveBack}. When nobody has any they are closed, a moment later and
 * not by a timer that keeps the process: PostgreSQL has timers of its own, which it sets again and again, and a program that is done would
 * never end.
 */
export class PgliteLoan {
  #opened: Promise<PgliteKitDatabase> | undefined;
  #isOver = false;

  constructor() {
    loans += 1;
    clearTimeout(closing);
  }

  /** The instance: a fresh one in place of one that had to be given up. */
  async database(): Promise<PgliteKitDatabase> {
    const opened = this.#opened;
    if (opened !== undefined) {
      const database = await opened;
      if (!database.isGivenUp) return database;
      // Whoever holds its connection goes on holding it: what closing waits for may never come.
      if (this.#opened === opened) {
        this.#opened = undefined;
        void database.close().catch(() => undefined);
      }
    }
    const kept = free.pop();
    this.#opened ??= kept === undefined ? openPgliteKitDatabase() : Promise.resolve(kept);
    return this.#opened;
  }

  /** Ends the loan: nothing that was done with it goes on, and it was reset. */
  giveBack(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    loans -= 1;
    this.#opened?.then(
      (database) => {
        if (!database.isGivenUp) free.push(database);
        else void database.close().catch(() => undefined);
        closeLater();
      },
      () => undefined,
    );
    closeLater();
  }
}

function closeLater(): void {
  clearTimeout(closing);
  if (loans > 0) return;
  closing = setTimeout(() => {
    for (const database of free.splice(0)) database.close().catch(() => undefined);
  }, KEPT_MS).unref();
}
