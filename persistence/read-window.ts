import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from './patient-transaction.ts';
import { HISTORY_COLUMNS, type HistoryRow, type HistoryTurn, toHistoryTurn } from './read-history.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** How far back a history is read. */
export interface WindowReach {
  /** The last turn that need not be read; -1 where there is none. */
  after: number;
  /** Bytes of older turns after which nothing more is read. What belongs to the present run is read in any case. */
  maxBytes: number;
}

/** Turns read with the first statement, and at most with one. */
const FIRST_PAGE = 32;
const MAX_PAGE = 256;

type Row = HistoryRow & { bytes: number };

/**
 * The end of a session's history, by index: the present run whole, the last message of a user, and older turns after `after` until they have
 * `maxBytes`; before them the message that opens the run in which they begin. A read that got no answer is tried again for `patienceMs`.
 *
 * It reads backwards, so its cost follows from what is shown and not from the session's length.
 */
export async function readWindow(
  store: Store,
  key: SessionKey & { runId: string },
  reach: (em: EntityManager) => Promise<WindowReach>,
  patienceMs: number,
): Promise<HistoryTurn[]> {
  return inPatientTransaction(
    store,
    { tenantId: key.tenantId },
    async (em) => {
      const reached = await reach(em);
      const rows = await readBackwards(em, key, reached);
      while (rows.length > 0 && !begins(rows.at(-1) as Row, reached)) rows.pop();
      const opener = await readOpener(em, key, rows.at(-1));
      return [...rows, ...opener].reverse().map(toHistoryTurn);
    },
    patienceMs,
  );
}

/**
 * A result without its call, or a notice without what it followed, begins nothing that a model may be shown; unless the notice came after
 * that need not be read, of which it is the only news.
 */
function begins({ role, turn_index: index }: Row, { after }: WindowReach): boolean {
  return role === 'user' || role === 'assistant' || (role === 'system' && index === after + 1);
}

/** Newest first. */
async function readBackwards(
  em: EntityManager,
  key: SessionKey & { runId: string },
  { after, maxBytes }: WindowReach,
): Promise<Row[]> {
  const rows: Row[] = [];
  let bytes = 0;
  let hasMessage = false;
  for (let limit = FIRST_PAGE; ; limit = Math.min(MAX_PAGE, 2 * limit)) {
    const page = await readPage(em, key, { before: rows.at(-1)?.turn_index ?? null, limit });
    for (const row of page) {
      const isOld = row.turn_index <= after || bytes > maxBytes;
      if (isOld && hasMessage && row.run_id === null) return rows;
      rows.push(row);
      bytes += row.bytes;
      hasMessage ||= row.role === 'user';
    }
    if (page.length < limit) return rows;
  }
}

async function readPage(
  em: EntityManager,
  { tenantId, sessionId, runId }: SessionKey & { runId: string },
  { before, limit }: { before: number | null; limit: number },
): Promise<Row[]> {
  return (await em.execute(
    `select ${HISTORY_COLUMNS}, greatest(octet_length(coalesce(content, '')), octet_length(parts::text)) as bytes
       from turnlock.agent_turns where tenant_id = ? and session_id = ? and turn_index < ?
      order by turn_index desc limit ?`,
    [runId, runId, tenantId, sessionId, before ?? 2 ** 31 - 1, limit],
  )) as Row[];
}

/** The message before the first turn that was read, where that is none itself. */
async function readOpener(
  em: EntityManager,
  { tenantId, sessionId, runId }: SessionKey & { runId: string },
  first: Row | undefined,
): Promise<Row[]> {
  if (first === undefined || first.role === 'user') return [];
  return (await em.execute(
    `select ${HISTORY_COLUMNS}, 0 as bytes from turnlock.agent_turns
      where tenant_id = ? and session_id = ? and turn_index < ? and role = 'user' order by turn_index desc limit 1`,
    [runId, runId, tenantId, sessionId, first.turn_index],
  )) as Row[];
}
