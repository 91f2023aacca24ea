import type { Approvers } from '../../machines/event-content.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import type { CommandWords } from './explanation.ts';

/** A call that waits for a person. */
export interface AskedCall extends SessionKey {
  executionId: string;
  reason: 'unknown' | 'approval' | 'answer';
  /** Of the params: names them in a decision. */
  digest: string;
  /** The question, where it is known: an answer to it answers no other one. */
  approvalId?: string;
  /** Whom the policy names, where that is known. */
  approvers?: Approvers | null;
}

/** The commands that decide about a call or settle it, one for each way. */
export function settleWords(call: AskedCall): CommandWords[] {
  const { executionId, sessionId, tenantId, reason, digest } = call;
  const where = ['--session', sessionId, '--tenant', tenantId, ...roleWords(call), '--by', 'WHO'];
  const question = call.approvalId === undefined ? [] : ['--approval', call.approvalId];
  const ways = [
    ['--succeeded', 'OUTPUT_AS_JSON'],
    ['--failed', 'REASON'],
    ...(reason === 'unknown' ? [['--run-again']] : []),
  ];
  const decisions =
    reason === 'approval'
      ? [
          ['approve', executionId, '--digest', digest, ...question],
          ['deny', executionId, '--reason', 'REASON', ...question],
        ]
      : [];
  const settlements = ways.map((way) => ['settle', executionId, ...way, ...question]);
  return [...decisions, ...settlements].map((words) => ['turnlock', ...words, ...where]);
}

/** A role with which a person may decide: the first of those that the policy names. */
function roleWords({ approvers }: AskedCall): string[] {
  const role = approvers?.roles?.[0];
  return role === undefined ? [] : ['--role', role];
}

/** The command that continues sessions that nobody holds. */
export function recoverWords(): CommandWords {
  return ['turnlock', 'recover'];
}

/** The command that begins a new run of a session that FAILED. */
export function retryWords(key: SessionKey): CommandWords {
  return ofSession('retry', key);
}

/** The command that takes a session from whoever holds it. */
export function releaseWords(key: SessionKey): CommandWords {
  return ofSession('release', key);
}

/** The command that copies the history of a session into a new one, which can go on. */
export function forkWords(key: SessionKey): CommandWords {
  return ofSession('fork', key);
}

/** The command that says how a session stands. */
export function explainWords({ sessionId, tenantId }: SessionKey): CommandWords {
  return ['turnlock', 'explain', sessionId, '--tenant', tenantId];
}

function ofSession(command: string, { sessionId, tenantId }: SessionKey): CommandWords {
  return ['turnlock', command, sessionId, '--tenant', tenantId, '--by', 'WHO'];
}
