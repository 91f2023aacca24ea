import { ContractBroken, Finding, shown } from './contract-broken.ts';

/** One promise of a port, as a case for any runner of tests: `test(title, run)`. */
export interface ContractCase {
  /** What the adapter does, in words. No two cases of a suite share one. */
  readonly title: string;
  /**
   * Resolves where the promise holds. It makes what it needs, and what it opened is closed when it ends, so cases run in any order, alone,
   * or again; one after the other, since some listen to the process for what nobody handles.
   *
   * @throws ContractBroken with what was promised and what was seen; what the adapter threw unasked is its cause.
   */
  run(): Promise<void>;
}

/** Cases of the suite for `port`, each by its title. */
export function contractCases(
  port: string,
  promises: Readonly<Record<string, () => Promise<void> | void>>,
): ContractCase[] {
  return Object.entries(promises).map(([title, check]) => ({
    title,
    async run() {
      try {
        await check();
      } catch (error) {
        if (error instanceof Finding) throw new ContractBroken({ port, promised: title, found: error.message });
        throw new ContractBroken({ port, promised: title, found: shown(error), cause: error });
      }
    },
  }));
}
