import { showJson } from '../show-json.ts';
import type { Check } from './check-play.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Play } from './play.ts';

/** The demonstration for programs: `--json` prints it. */
export interface DemoReport {
  /** Whether everything that was claimed held. */
  ok: boolean;
  database: 'postgres' | 'pglite';
  /** `a script, no model`, or provider and id. */
  model: string;
  seconds: number;
  scenarios: {
    number: 1 | 2;
    effect: string;
    killedAt: string;
    verdict: Play['verdict'];
    /** The session as `turnlock show --json` prints it. */
    session: unknown;
    /** The lines that the payments service wrote about it. */
    ledger: LedgerEntry[];
    checks: Check[];
  }[];
}

/** Puts it together. */
export function demoReport(
  plays: readonly { play: Play; checks: Check[] }[],
  facts: Pick<DemoReport, 'database' | 'model' | 'seconds'>,
): DemoReport {
  return {
    ok: plays.every(({ checks }) => checks.every(({ holds }) => holds)),
    ...facts,
    scenarios: plays.map(({ play, checks }) => ({
      number: play.scenario.number,
      effect: play.scenario.effect,
      killedAt: play.killedAt,
      verdict: play.verdict,
      session: showJson(play.record, {}),
      ledger: play.ledger,
      checks,
    })),
  };
}
