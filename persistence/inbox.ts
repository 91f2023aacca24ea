import type { EntityManager } from '@mikro-orm/postgresql';
import { type ErrorCode, isTurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { TurnPart, UserTurnContent } from '../machines/event-content.ts';
import { AgentInbox, type AgentInboxRow } from './entities/agent-inbox.entity.ts';
import { contentDigest } from './keys/content-digest.ts';
import type { SessionKey } from './read-session.ts';
import { withoutTrace } from './trace-keys.ts';
import { normaliseJson } from './values/normalise-json.ts';
import { normaliseText } from './values/normalise-text.ts';

/**
 * What a message does to a session that has a run under way, waits for a person, or has messages waiting.
 *
 * - `enqueue`: it waits until those before it are done, and then begins a run of its own;
 * - `reject`: SESSION_BUSY, and nothing is written;
 * - `interrupt`: the run is cancelled in the same commit, and the message goes first;
 * - `supersede`: approvals that are asked for are refused as superseded in the same commit, the run goes on, and the message waits.
 *
 * In a transaction of the caller's and by SQL the message is only put into the inbox: whoever drives the session hears of an interruption,
 * or of what supersedes, at its next commit or heartbeat (`limits.heartbeatMs`, a third of the lease), or at once by a listener.
 *
 * Where the agent has asked its user a question and nothing else is under way, a message that does not interrupt is the answer.
 */
export type WhenBusy = 'enqueue' | 'reject' | 'interrupt' | 'supersede';

/** Stands in a row instead of an error's code: the message has its turn already, under another run. */
export const MESSAGE_REPEATED = 'MESSAGE_REPEATED';

/** A message that is new to a session. */
export interface NewMessage {
  /** Of the run that it begins, at once or later. */
  runId: string;
  /** The caller's id; `null` when none was given. */
  messageId: string | null;
  content: UserTurnContent;
}

/** What a commit does with the inbox. The rows are managed by the transaction's entity manager. */
export type InboxChange =
  /** `isNoted`: the audit has it as `message.enqueued`, under the event id of its message id. */
  | { type: 'add'; message: NewMessage; whenBusy: WhenBusy; isNoted: boolean }
  | { type: 'note' | 'take'; row: AgentInboxRow }
  | { type: 'reject'; row: AgentInboxRow; code: ErrorCode };

/** The message that is next: those that interrupt first, then in the order in which they came. */
export async function findNextMessage(em: EntityManager, { sessionId }: SessionKey): Promise<AgentInboxRow | null> {
  return findOne(
    em,
    `session_id = ? and rejected_at is null and kind = 'message' order by (when_busy = 'interrupt') desc, position limit 1`,
    [sessionId],
  );
}

/**
 * The first message that came from outside the session's lock, and that no commit of the session took note of yet: one that interrupts,
 * one that supersedes, then in the order in which they came.
 */
export async function findNews(em: EntityManager, { sessionId }: SessionKey): Promise<AgentInboxRow | null> {
  return findOne(
    em,
    `session_id = ? and rejected_at is null and kind = 'message' and noted_at is null
      order by array_position(array['interrupt', 'supersede'], when_busy::text), position limit 1`,
    [sessionId],
  );
}

/** The word of the parent that it gave a run up. */
export async function findCancel(em: EntityManager, { sessionId }: SessionKey): Promise<AgentInboxRow | null> {
  return findOne(em, `session_id = ? and kind = 'cancel' order by position limit 1`, [sessionId]);
}

/** The message with the caller's id, also one that was refused; `null` where the inbox has none, or not any more. */
export async function findMessage(
  em: EntityManager,
  { sessionId }: SessionKey,
  messageId: string,
): Promise<AgentInboxRow | null> {
  return findOne(em, 'session_id = ? and message_id = ?', [sessionId, messageId]);
}

/** The message that begins the run, or would have begun it. */
export async function findMessageOfRun(
  em: EntityManager,
  { sessionId }: SessionKey,
  runId: string,
): Promise<AgentInboxRow | null> {
  return findOne(em, `session_id = ? and run_id = ? and kind = 'message'`, [sessionId, runId]);
}

async function findOne(em: EntityManager, where: string, values: unknown[]): Promise<AgentInboxRow | null> {
  const [row] = (await em.execute(`select * from turnlock.agent_inbox where ${where}`, values)) as object[];
  return row === undefined ? null : em.map(AgentInbox, row as never);
}

/** Adds to `em` what a commit does with the inbox. */
export function changeInbox(em: EntityManager, key: SessionKey, change: InboxChange, now: Date): void {
  if (change.type === 'add') {
    const { runId, messageId, content } = change.message;
    const { text, parts, metadata, normalised } = content;
    em.persist(
      em.create(AgentInbox, {
        ...key,
        runId,
        messageId,
        content: text,
        parts,
        metadata,
        normalised,
        whenBusy: change.whenBusy,
        notedAt: change.isNoted ? now : null,
        createdAt: now,
      } as never),
    );
  }
  if (change.type === 'note') change.row.notedAt = now;
  if (change.type === 'take') em.remove(change.row);
  if (change.type === 'reject') em.assign(change.row, { rejectedAt: now, rejectedCode: change.code });
}

/** What a waiting message says, as a user turn holds it. */
export function contentOf({ content: text, parts, metadata, normalised }: AgentInboxRow): UserTurnContent {
  return { text, parts: parts as TurnPart[], metadata, normalised: normalised ?? null };
}

/** Digest of what a message says: tells a repeat from another message with the same id. */
export function messageDigest({ text, metadata }: Pick<UserTurnContent, 'text' | 'metadata'>): string {
  return contentDigest({ text, metadata: withoutTrace(metadata) });
}

/** Stands for the digest of a row that has none: no message equals it. */
const NO_DIGEST = '-';

/**
 * Digest of what a waiting message says. One that came by SQL may hold what has no canonical text, such as a number that no double holds:
 * it cannot become a turn, and equals no other message.
 */
export function rowDigest(row: AgentInboxRow): string {
  try {
    return messageDigest(contentOf(row));
  } catch (error) {
    if (!isTurnlockError(error, 'INVARIANT_BROKEN')) throw error;
    return NO_DIGEST;
  }
}

/** Bytes of a row's notes as JSON: more than a message and its metadata can have. */
const MAX_NOTES_BYTES = 1024 * 1024;

/**
 * Why a message cannot become a turn: one that came by SQL went past the bounds and checks of `send`. `null` where it can.
 */
export function whyNotStorable(row: AgentInboxRow, limits: Limits): ErrorCode | null {
  const { content, parts, metadata } = row;
  const { maxDepth, maxMessageBytes, maxMetadataBytes } = limits;
  try {
    normaliseText(content, { maxBytes: maxMessageBytes, name: 'message' });
    normaliseJson(parts, { maxBytes: maxMessageBytes, maxDepth, name: 'parts' });
    normaliseJson(metadata, { maxBytes: maxMetadataBytes, maxDepth, name: 'metadata' });
    normaliseJson(row.normalised ?? null, { maxBytes: MAX_NOTES_BYTES, maxDepth, name: 'normalised' });
    const fits = parts.every(isUserPart) && textOf(parts) === content && isNotes(row.normalised ?? null);
    return fits ? null : 'VALUE_INVALID';
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return error.code;
  }
}

/** What the model is shown of a message, which is what the transcript says. */
function textOf(parts: readonly unknown[]): string {
  return parts.map((part) => ((part as TurnPart).type === 'text' ? (part as { text: string }).text : '')).join('');
}

function isNotes(notes: unknown): boolean {
  return notes === null || (Array.isArray(notes) && notes.every((note) => typeof note === 'string'));
}

function isUserPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { type, text, mediaType, reference } = part as Record<string, unknown>;
  if (type === 'text') return typeof text === 'string';
  return type === 'file' && typeof mediaType === 'string' && typeof reference === 'string';
}
