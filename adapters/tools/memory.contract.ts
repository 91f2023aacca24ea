import type { Json } from '../../machines/event-content.ts';

/** What a memory is: the summary of a conversation, what its user likes or wants, what is so, what happened. */
export type RememberedKind = 'summary' | 'preference' | 'fact' | 'episode';

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

/** How a transactional tool remembers. */
export interface TransactionalMemory {
  /**
   * Remembers for the session's user: stored by the commit that settles the call, with session and turn that it came from, or not at all. Nothing
   * can be found before that commit.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE for what cannot be stored; TRANSACTION_OVER once `execute` has ended.
   */
  remember(memory: ToolRemembered): Promise<{ memoryId: string }>;
}
