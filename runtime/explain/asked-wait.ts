import type { Awaiting } from '../../persistence/list-awaiting.ts';
import { settleWords } from './command-words.ts';
import type { CommandWords, Waiting } from './explanation.ts';
import type { Situation } from './waits-of.ts';

/** Codes under which a call is kept from running in a build. */
const PROBLEMS: readonly (string | null)[] = ['TOOL_UNKNOWN', 'UPGRADE_FAILED', 'PARAMS_CHANGED'];

/** What a person is asked about a call, and how that is answered. */
export function askedWait(asked: Awaiting, { standing, controls }: Situation): Waiting {
  const commands = settleWords(asked);
  const call = standing.calls.find(({ executionId }) => executionId === asked.executionId);
  if (asked.reason === 'answer') {
    return { kind: 'answer', asked, commands, unblockedBy: 'The next message of its user is the answer.' };
  }
  if (asked.reason === 'unknown') {
    const unblockedBy = 'Ask its receiver, by the key, what happened; then say so.';
    return { kind: 'unknown', asked, reason: asked.unknownReason, commands, unblockedBy };
  }
  if (asked.problem !== null) {
    const unblockedBy = 'A person refuses it, or its run is cancelled: it is not run with these params.';
    return { kind: 'unrunnable', asked, problem: asked.problem, commands: withoutApproval(commands), unblockedBy };
  }
  if (call !== undefined && PROBLEMS.includes(call.errorCode)) {
    const problem = { code: call.errorCode as string, message: call.errorMessage ?? '' };
    const unblockedBy = 'Settle it by hand, or deploy a build that can run it and approve it there.';
    return { kind: 'unrunnable', asked, problem, commands: withoutApproval(commands), unblockedBy };
  }
  const round = standing.rounds.find(({ executionId }) => executionId === asked.executionId);
  const holding = controls.filter(({ controlId }) => round?.controls.includes(controlId) ?? false);
  if (holding.length > 0) {
    const kind = holding.some((control) => control.kind === 'freeze') ? 'frozen' : 'overBudget';
    const unblockedBy =
      'A person lets it run all the same, or it is settled. The end of the freeze or budget does not let it go.';
    return { kind, asked, controls: holding, commands, unblockedBy };
  }
  return { kind: 'approval', asked, commands, unblockedBy: 'A person decides.' };
}

/** What this build would hold again at once is not offered. */
function withoutApproval(commands: readonly CommandWords[]): CommandWords[] {
  return commands.filter(([, name]) => name !== 'approve');
}
