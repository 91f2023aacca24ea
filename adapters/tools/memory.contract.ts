import type { Json } from '../../machines/event-content.ts';

/** What a memory is: the summary of a conversation, what its user likes or wants, what is so, what happened. */
export type RememberedKind = 'summary' | 'preference' | 'fact' | 'episode';

/** What a tool asks of what is remembered of its user. */
export interface ToolRecallQuery {
  /** Words, or a question. Empty: the newest memories. */
  query: string;
  /** Default: all. */
  kinds?: readonly RememberedKind[];
  /** At most so many: a whole number from 1 to 100, default 10. */
  limit?: number;
}

/** A memory that was found, the best first. */
export interface ToolRecalled {
  memoryId: string;
  kind: RememberedKind;
  content: string;
  /** Higher is better; comparable within one answer only. */
  score: number;
  createdAt: Date;
  metadata: { [name: string]: Json };
}

/** What a tool can reach of what is remembered: of the session's user, and of nobody else. */
export interface ToolMemory {
  /**
   * Finds memories of the session's user. Holds no connection while the query is embedded. Not from within a transactional tool, which would
   * wait for itself: there it throws TRANSACTION_REENTRANT.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE, DATABASE_UNREACHABLE, TRANSACTION_REENTRANT.
   */
  recall(query: ToolRecallQuery): Promise<ToolRecalled[]>;
}

/** What a transactional tool remembers. */
export interface ToolRemembered {
  kind: RememberedKind;
  /** Text that is not empty. */
  content: string;
  /** Default `{}`. */
  metadata?: { [name: string]: Json };
  /** When it counts no more. Default: never. */
  expiresAt?: Date;
}

/** The same for a transactional tool, which can also remember. */
export interface TransactionalMemory extends ToolMemory {
  /**
   * Remembers for the session's user: stored by the commit that settles the call, with session and turn that it came from, or not at all. Nothing
   * can be found before that commit.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE for what cannot be stored; TRANSACTION_OVER once `execute` has ended.
   */
  remember(memory: ToolRemembered): Promise<{ memoryId: string }>;
}
