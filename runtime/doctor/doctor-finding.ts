import { DOCTOR_CODES, type DoctorCode, type Found, type Severity } from '../../persistence/doctor/doctor-codes.ts';
import { explainWords, forkWords, recoverWords, releaseWords, settleWords } from '../explain/command-words.ts';
import type { CommandWords } from '../explain/explanation.ts';

/** Something that is not as it must be. */
export interface DoctorFinding {
  code: DoctorCode;
  /** `error`: something is not as it must be. `warning`: time, a deploy or a person has to do something. */
  severity: Severity;
  /** `null`: it concerns the database. */
  tenantId: string | null;
  sessionId: string | null;
  /** What of it: `turn 3`, an execution, a trigger; `null`: the whole. */
  place: string | null;
  /** What is wrong, in one sentence. */
  says: string;
  found: string;
  wanted: string;
  /** What repairs it, in one sentence. */
  repair: string;
  /** Commands that repair it, or that say more; see {@link CommandWords}. */
  commands: readonly CommandWords[];
}

/** A finding with what is to be done about it. */
export function toFinding({ code, tenantId, sessionId, executionId, place, found, wanted }: Found): DoctorFinding {
  const { severity, says, repair } = DOCTOR_CODES[code];
  const key = tenantId === undefined || sessionId === undefined ? null : { tenantId, sessionId };
  const commands = key === null ? [] : commandsOf(code, key, executionId);
  const where = { tenantId: tenantId ?? null, sessionId: sessionId ?? null, place };
  return { code, severity, ...where, says, found, wanted, repair, commands };
}

function commandsOf(
  code: DoctorCode,
  key: { tenantId: string; sessionId: string },
  executionId: string | undefined,
): CommandWords[] {
  switch (code) {
    case 'LEASE_AT_REST':
    case 'LEASE_TOO_LONG':
    case 'STUCK_AT_WORK':
      return [releaseWords(key)];
    case 'QUARANTINED':
      return [forkWords(key), explainWords(key)];
    case 'STUCK':
      return [recoverWords(), explainWords(key)];
    case 'ROUND_MISSING': {
      const settles = settleWords({ ...key, executionId: executionId ?? '', reason: 'unknown', digest: '' });
      return executionId === undefined ? [] : settles.slice(0, 2);
    }
    default:
      return [explainWords(key)];
  }
}
