import { TurnlockError } from '../../../errors.ts';

/** Vectors cannot be kept here. */
export function extensionMissing(): TurnlockError {
  return new TurnlockError('DATABASE_UNSUPPORTED', {
    message: 'database keeps no vectors: (found no extension `vector`, wanted it there or a role that may create it)',
    hint: 'Install pgvector on the server, and have a role that may run CREATE EXTENSION vector.',
  });
}
