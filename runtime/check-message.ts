import { TurnlockError } from '../errors.ts';
import { type Limits, MAX_CHARACTERS } from '../limits.ts';
import type { Json, UserTurnContent } from '../machines/event-content.ts';
import type { CallerTransaction } from '../persistence/caller-transaction.ts';
import type { WhenBusy } from '../persistence/inbox.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import { refuseValue } from '../persistence/values/refuse-value.ts';

/** What goes with a message. */
export interface SendOptions {
  /** The caller's id, 1 to 255 characters, unique within the session: a repeat returns the first run and writes nothing. */
  messageId?: string;
  /** What it does where the session is busy. Default `enqueue`. */
  whenBusy?: WhenBusy;
  /**
   * A transaction of the caller's, in which the message is only put into the inbox: it is durable once that commits, and its run begins
   * then, by a worker, by `recover`, or when the run's `result()` is asked for. Before that, and after a rollback, there is no run: `result()`
   * rejects with RUN_NOT_FOUND and may be asked again, and there are no events to iterate over.
   */
  transaction?: CallerTransaction;
  /** Stored with the user turn; JSON, shown to nobody but its readers. Default none. */
  metadata?: { [name: string]: unknown };
}

/** What {@link SendOptions} has. */
export const SEND_OPTIONS = [
  'messageId',
  'whenBusy',
  'transaction',
  'metadata',
] as const satisfies (keyof SendOptions)[];

/** The user turn of a message: checked and normalised, nothing written. @throws VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkMessage(text: string, { messageId, metadata = {} }: SendOptions, limits: Limits): UserTurnContent {
  if (messageId !== undefined)
    checkIdentifier(messageId, { name: 'messageId', maxCharacters: MAX_CHARACTERS.messageId });
  const message = normaliseText(text, { maxBytes: limits.maxMessageBytes, name: 'message' });
  const extra = checkMetadata(metadata, limits);
  const notes = [...message.notes, ...extra.notes];
  return {
    text: message.value,
    parts: [{ type: 'text', text: message.value }],
    metadata: extra.value,
    normalised: notes.length > 0 ? notes : null,
  };
}

const WHEN_BUSY: readonly unknown[] = ['enqueue', 'reject', 'interrupt', 'supersede'] satisfies WhenBusy[];

/** @throws OPTIONS_INVALID for another word. */
export function checkWhenBusy(whenBusy: WhenBusy = 'enqueue'): WhenBusy {
  if (WHEN_BUSY.includes(whenBusy)) return whenBusy;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: whenBusy (found ${kindOf(whenBusy)}, wanted ${WHEN_BUSY.join(', ')})`,
  });
}

/** Metadata as it will be stored. @throws VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkMetadata(metadata: unknown, limits: Limits): { value: { [name: string]: Json }; notes: string[] } {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw refuseValue(['metadata'], kindOf(metadata), 'an object');
  }
  const { value, notes } = normaliseJson(metadata, {
    maxBytes: limits.maxMetadataBytes,
    maxDepth: limits.maxDepth,
    name: 'metadata',
  });
  return { value: value as { [name: string]: Json }, notes };
}

/** Who did something, as the audit will say it: 1 to 255 characters. @throws VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkWho(by: string): string {
  return checkIdentifier(by, { name: 'by', maxCharacters: MAX_CHARACTERS.decidedBy });
}

/** Roles of whoever decides: none where they are left out. @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkRoles(roles: readonly string[] = []): string[] {
  if (!Array.isArray(roles)) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `option not accepted: roles of a decision (found ${kindOf(roles)}, wanted an array of names)`,
    });
  }
  return [...roles].map((role) => checkIdentifier(role, { name: 'role', maxCharacters: MAX_CHARACTERS.decidedBy }));
}
