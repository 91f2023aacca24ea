import { counted } from './counted.ts';
import type { PlayedPolicy } from './played-policy.ts';

/** What a policy was asked in so many runs in which nothing was found, for people; one that let nothing run is told first. */
export function policyText(played: PlayedPolicy, runs: number): string {
  const { calls, allowed, denied, approvalRequired, approved, failed } = played;
  const nothing = allowed + approved === 0 ? ', but NO CALL RAN' : '';
  const verdicts = [
    `${allowed} allowed`,
    `${denied} denied`,
    `${approvalRequired} for a person, who approved ${approved}`,
    ...(failed === 0 ? [] : [`${failed} at which the policy threw or gave no verdict`]),
  ];
  return `Nothing was found in ${counted(runs, 'run')}${nothing}.\n  ${counted(calls, 'call')}: ${verdicts.join(', ')}`;
}
