import type { ModelRequest, Session } from '../../index.ts';
import type { RuntimeDatabase } from '../support/runtime-database.ts';
import { scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';

/** An agent that says back what it hears; a message `wait` makes it wait in a tool until `open` is called. */
export function echoAgent({
  effect = 'idempotent',
  name,
}: {
  effect?: 'idempotent' | 'nonRepeatable';
  name?: string;
} = {}) {
  const { opened, open } = gate();
  const begun = gate();
  const signals: AbortSignal[] = [];
  const slow = looseTool(
    'slow',
    (_params, { signal }) => {
      signals.push(signal);
      begun.open();
      const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return Promise.race([opened, aborted]);
    },
    { effect },
  );
  const script = (request: ModelRequest) => {
    const { text } = request.turns.findLast(({ role }) => role === 'user')!;
    if (text !== 'wait') return `heard ${text}`;
    return eachRun({ toolCalls: [call('slow')] }, 'waited')(request);
  };
  const agent = scriptedAgent(script, [slow], name);
  return { agent, open, begun: begun.opened, signals };
}

/** Names of the transitions, in order. */
export const typesOf = async (session: Session) => (await session.transitions()).map(({ type }) => type);
/** What users said, in order. */
export const userTexts = async (session: Session) =>
  (await session.history()).filter(({ role }) => role === 'user').map(({ content }) => content);

/** Waits until nothing is under way and nothing waits. */
export async function idle(session: Session): Promise<void> {
  await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to come to rest' });
}

/** The rows of the session's inbox, in the order in which they came. */
export function rowsOf(database: RuntimeDatabase, sessionId: string) {
  return database.query(
    'SELECT content, when_busy, rejected_code FROM turnlock.agent_inbox WHERE session_id = $1 ORDER BY position',
    [sessionId],
  );
}

/** What another program does: no lock, no version. */
export function enqueue(
  database: RuntimeDatabase,
  { tenantId, sessionId }: Session,
  messageId: string | null,
  content: string,
  whenBusy = 'enqueue',
  parts?: unknown,
) {
  return database.query('SELECT * FROM turnlock.enqueue($1, $2, $3, $4, $5, $6::jsonb)', [
    tenantId,
    sessionId,
    messageId,
    content,
    whenBusy,
    parts === undefined ? null : JSON.stringify(parts),
  ]);
}
