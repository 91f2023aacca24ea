import { MAX_CHARACTERS } from '../limits.ts';
import type { NewFork } from '../persistence/fork/fork-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkMetadata, checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { optionRefused } from './check-query.ts';

/** What `fork` takes. */
export interface ForkOptions {
  /** The last turn that is copied, from 0 on. Default: the last one at which every call has its tool turn. */
  atTurn?: number;
  /** The caller's id of the fork, 1 to 255 characters, unique per tenant. */
  externalId?: string;
  /** JSON of the caller, at most `limits.maxMetadataBytes`. Default: that of the session. */
  metadata?: { [name: string]: unknown };
  /** Who forks, as the audit will say it. Default `operator`. */
  by?: string;
}

/** @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkFork(
  { limits }: Pick<Store, 'limits'>,
  options: ForkOptions,
): Pick<NewFork, 'atTurn' | 'externalId' | 'metadata' | 'by'> {
  const { atTurn, externalId, metadata, by } = checkOptions(options, 'fork', [
    'atTurn',
    'externalId',
    'metadata',
    'by',
  ]);
  if (atTurn !== undefined && !(Number.isInteger(atTurn) && atTurn >= 0 && atTurn < 2 ** 31))
    throw optionRefused('atTurn', 'a whole number from 0');
  const checked = metadata === undefined ? null : checkMetadata(metadata, limits);
  const bound = { name: 'externalId', maxCharacters: MAX_CHARACTERS.externalId };
  return {
    atTurn: atTurn ?? null,
    externalId: externalId === undefined ? null : checkIdentifier(externalId, bound),
    metadata: checked && { value: checked.value, normalised: checked.notes.length > 0 ? checked.notes : null },
    by: checkWho(by ?? 'operator'),
  };
}
