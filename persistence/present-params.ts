import { TurnlockError } from '../errors.ts';
import type { Json } from '../machines/event-content.ts';
import { paramsDigest } from './keys/params-digest.ts';
import type { ExecutionRow } from './row-changes.ts';

/** The columns of a call that say with which params it runs. */
export type StoredParams = Pick<
  ExecutionRow,
  | 'toolName'
  | 'toolVersion'
  | 'inputParameters'
  | 'paramsDigest'
  | 'upgradedVersion'
  | 'upgradedParameters'
  | 'upgradedDigest'
>;

/** The params of a call as the last upgrade left them, or as they were written: what a person sees and what an approval is bound to. */
export function presentParams(row: StoredParams): { version: number; params: Json; digest: string } {
  const { upgradedVersion, upgradedParameters, upgradedDigest } = row;
  if (upgradedVersion === null)
    return { version: row.toolVersion, params: row.inputParameters, digest: row.paramsDigest };
  return { version: upgradedVersion, params: upgradedParameters, digest: upgradedDigest ?? '' };
}

/** What is wrong with the params of a call, as those see it who are asked about it. */
export interface ParamsProblem {
  code: 'PARAMS_CHANGED';
  message: string;
}

/** Why params must not be run or decided about: they are not those of their digest. `null` where they are. */
export function paramsProblem({ params, digest }: { params: Json; digest: string }): ParamsProblem | null {
  if (paramsDigest(params) === digest) return null;
  return { code: 'PARAMS_CHANGED', message: 'Its stored params are not those of their digest: they were changed.' };
}

/** @throws PARAMS_CHANGED when the params of a call are not those of their digest, or not those that `asked` names. */
export function checkParams(row: StoredParams & Pick<ExecutionRow, 'executionId'>, asked?: string): void {
  const present = presentParams(row);
  const { executionId } = row;
  const found = paramsDigest(present.params);
  const wanted = asked ?? present.digest;
  if (found === present.digest && found === wanted) return;
  throw new TurnlockError('PARAMS_CHANGED', {
    message: `params were changed past the runtime: execution ${executionId} (found those of digest ${found}, wanted ${wanted})`,
    details: { executionId, digest: found },
  });
}
