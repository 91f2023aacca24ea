import type { Json } from '../machines/event-content.ts';
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
