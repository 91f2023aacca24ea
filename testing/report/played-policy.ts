import type { PolicyVerdict } from '../../adapters/tools/policy.ts';

/** What {@link checkPolicy} really played: calls, and what became of them. Each is one of `allowed`, `denied`, `approvalRequired` and `failed`. */
export interface PlayedPolicy {
  /** Calls that were judged. */
  calls: number;
  allowed: number;
  denied: number;
  /** Calls about which the policy had a person asked. */
  approvalRequired: number;
  /** Those of them that the person approved. */
  approved: number;
  /** Calls at which the policy threw or gave no verdict: they did not run. */
  failed: number;
}

export function noVerdicts(): PlayedPolicy {
  return { calls: 0, allowed: 0, denied: 0, approvalRequired: 0, approved: 0, failed: 0 };
}

/** Counts what a policy said of one call; `null`: nothing. `isApproved`: what a person says who is asked. */
export function countVerdict(played: PlayedPolicy, verdict: PolicyVerdict['type'] | null, isApproved: boolean): void {
  played.calls += 1;
  if (verdict === 'allow') played.allowed += 1;
  else if (verdict === 'deny') played.denied += 1;
  else if (verdict !== 'requireApproval') played.failed += 1;
  else {
    played.approvalRequired += 1;
    if (isApproved) played.approved += 1;
  }
}
