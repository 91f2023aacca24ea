import { type ErrorCategory, type ErrorCode, isTurnlockError } from '../../errors.ts';

/** How the command ends. Stable, for scripts; `docs/cli.md` lists them. */
export const EXIT_CODES = {
  /** Done as asked. */
  ok: 0,
  /** Carried out, and it failed: a model, a tool, a limit, a check that found something. */
  failed: 1,
  /** The command, its options or its configuration are wrong. */
  usage: 2,
  /** Database or schema are not there, or may not be used. */
  unavailable: 3,
  /** The session or the execution does not allow it now, or somebody was first. */
  refused: 4,
  /** It may have been written: look before you repeat it. */
  unknown: 5,
  /** Carried out, and a check found what is worth a look and is no error. */
  warned: 6,
  /** Should not happen. */
  bug: 70,
} as const;

/** One of {@link EXIT_CODES}. */
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

const BY_CATEGORY: Record<ErrorCategory, ExitCode> = {
  work: EXIT_CODES.failed,
  limit: EXIT_CODES.failed,
  usage: EXIT_CODES.usage,
  transient: EXIT_CODES.unavailable,
  version: EXIT_CODES.unavailable,
  state: EXIT_CODES.refused,
  conflict: EXIT_CODES.refused,
  commitUnknown: EXIT_CODES.unknown,
  bug: EXIT_CODES.bug,
};

/** Codes of other categories that say that the database cannot be used. */
const UNAVAILABLE: readonly ErrorCode[] = [
  'DATABASE_LOGIN_REFUSED',
  'PRIVILEGE_MISSING',
  'DATA_DIRECTORY_INVALID',
  'DATA_DIRECTORY_IN_USE',
];

/** The exit code for an error that ended the command. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!isTurnlockError(error)) return EXIT_CODES.bug;
  return UNAVAILABLE.includes(error.code) ? EXIT_CODES.unavailable : BY_CATEGORY[error.category];
}
