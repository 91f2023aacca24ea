import { TurnlockError } from '../../errors.ts';

/** Connection exceptions and ends of the session; 40003 says so itself. Source: PostgreSQL's manual, appendix A. */
const OPEN_STATES = /^(?:08...|57P..|40003)$/;

/** Whether an error that came while COMMIT was under way says for certain that nothing was written. */
export function isDefiniteAbort(error: unknown): boolean {
  const { code, severity } = facts(error);
  return hasSqlState(error) && !OPEN_STATES.test(String(code)) && severity !== 'FATAL' && severity !== 'PANIC';
}

/** Whether the connection survived the error: it came as an answer of the server, and the server goes on. */
export function leavesConnectionUsable(error: unknown): boolean {
  return isDefiniteAbort(error);
}

/** Marks a commit that may or may not have happened. Whoever knows an id of what was written resolves it. */
export function commitUnknown(found: string, cause?: unknown): TurnlockError {
  return new TurnlockError('COMMIT_UNKNOWN', {
    message: `commit has no answer: transaction (found ${found}, wanted COMMIT)`,
    cause,
  });
}

/** Node's codes of five capitals (EPIPE) all begin with E; no SQLSTATE does. */
function hasSqlState(error: unknown): boolean {
  const { code } = facts(error);
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code);
}

function facts(error: unknown): { code?: unknown; severity?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
