import { TurnlockError } from '../../errors.ts';
import type { Settlement } from '../../runtime/check-settlement.ts';
import { readId } from './choose-session.ts';

/** How `turnlock settle` is told the outcome. */
export interface SettleOptions {
  session: string;
  tenant?: string;
  /** JSON, or `true` where none was given. */
  succeeded?: string | true;
  failed?: string;
  runAgain?: boolean;
  role?: string[];
  approval?: string;
  by: string;
}

/** The settlement that the options say. @throws OUTCOME_INVALID for none, for two, or for an output that is no JSON. VALUE_INVALID for an approval that is no id. */
export function readSettlement({ succeeded, failed, runAgain, role, approval, by }: SettleOptions): Settlement {
  const who = {
    by,
    ...(role === undefined ? {} : { roles: role }),
    ...(approval === undefined ? {} : { approvalId: readId(approval, 'approval') }),
  };
  const given = [succeeded !== undefined, failed !== undefined, runAgain === true].filter(Boolean).length;
  if (given !== 1) throw refuse(given === 0 ? 'none' : 'several', 'one of --succeeded, --failed, --run-again');
  if (runAgain) return { outcome: 'runAgain', ...who };
  if (failed !== undefined) return { outcome: 'failed', reason: failed, ...who };
  return { outcome: 'succeeded', output: succeeded === true ? null : readJson(succeeded as string), ...who };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('an output that is no JSON', `JSON: text stands in quotes, as in '"done"'`);
  }
}

function refuse(found: string, wanted: string): TurnlockError {
  return new TurnlockError('OUTCOME_INVALID', {
    message: `outcome not accepted (found ${found}, wanted ${wanted})`,
    hint: 'Pass --succeeded JSON, --failed REASON or --run-again.',
  });
}
