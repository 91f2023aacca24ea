import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import { readTimelineCalls, type TimelineCall } from './read-timeline-calls.ts';
import { type CutValue, cutText } from './read-timeline-values.ts';
import type { Store } from './session-transaction.ts';

/** A message that waits for its turn. */
export interface WaitingMessage {
  messageId: string | null;
  kind: 'message' | 'cancel';
  whenBusy: string;
  content: CutValue;
  createdAt: Date;
}

/** What of a session is under way. */
export interface PresentWork {
  /** The calls of the assistant turn that is being worked on, in call order, also those that are settled; empty where none is open. */
  calls: TimelineCall[];
  /** The first messages that wait, at most {@link MAX_MESSAGES}. */
  messages: WaitingMessage[];
}

const MAX_MESSAGES = 20;

/** Reads the calls that the snapshot names, whatever machine wrote it, and what waits in the inbox. */
export async function readPresentWork(store: Store, key: SessionKey): Promise<PresentWork> {
  const { tenantId, sessionId } = key;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const named = (await em.execute(
      `select e.execution_id as id from turnlock.agent_sessions s
         cross join lateral jsonb_path_query(s.snapshot, '$.context.calls[*].executionId') named
         join turnlock.agent_tool_executions e on e.session_id = s.session_id and e.execution_id::text = named #>> '{}'
        where s.tenant_id = ? and s.session_id = ?`,
      [tenantId, sessionId],
    )) as { id: string }[];
    const calls = await readTimelineCalls(em, key, { turnIds: [], executionIds: named.map(({ id }) => id) });
    const messages = (await em.execute(
      `select message_id as "messageId", kind, when_busy as "whenBusy", ${cutText('content')} as content,
              (extract(epoch from created_at) * 1000)::float8 as at
         from turnlock.agent_inbox where tenant_id = ? and session_id = ? and rejected_at is null order by position limit ?`,
      [tenantId, sessionId, MAX_MESSAGES],
    )) as (Omit<WaitingMessage, 'createdAt'> & { at: number })[];
    return {
      calls: [...calls.values()],
      messages: messages.map(({ at, ...message }) => ({ ...message, createdAt: new Date(at) })),
    };
  });
}

/** Some calls of a session, by id. */
export async function readCalls(
  store: Store,
  key: SessionKey,
  executionIds: readonly string[],
): Promise<Map<string, TimelineCall>> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, (em) =>
    readTimelineCalls(em, key, { turnIds: [], executionIds }),
  );
}
