import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from './patient-transaction.ts';
import { HISTORY_COLUMNS, type HistoryRow, type HistoryTurn, toHistoryTurn } from './read-history.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A part of a history. */
export interface Span {
  /** Its first turn is the one behind this index. */
  after: number;
  /** Its last turn, at most. */
  upToTurn: number;
  /** Bytes after which it ends with the round that it is in. */
  maxBytes: number;
}

/** Turns read with one statement. */
const PAGE = 64;

type Row = HistoryRow & { bytes: number };

/** The turns of a span, by index: whole rounds, and one at the least. A read that got no answer is tried again. */
export async function readSpan(store: Store, key: SessionKey, span: Span): Promise<HistoryTurn[]> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, async (em) => {
    const rows: Row[] = [];
    let bytes = 0;
    for (let after = span.after; ; after = rows.at(-1)?.turn_index ?? after) {
      const page = await readPage(em, key, { ...span, after });
      for (const row of page) {
        const opensRound = row.role === 'user' || row.role === 'assistant';
        if (opensRound && bytes > span.maxBytes) return rows.map(toHistoryTurn);
        rows.push(row);
        bytes += row.bytes;
      }
      if (page.length < PAGE) return rows.map(toHistoryTurn);
    }
  });
}

async function readPage(em: EntityManager, { tenantId, sessionId }: SessionKey, span: Span): Promise<Row[]> {
  return (await em.execute(
    `select ${HISTORY_COLUMNS}, greatest(octet_length(coalesce(content, '')), octet_length(parts::text)) as bytes
       from turnlock.agent_turns where tenant_id = ? and session_id = ? and turn_index > ? and turn_index <= ?
      order by turn_index limit ${PAGE}`,
    [null, null, tenantId, sessionId, span.after, span.upToTurn],
  )) as Row[];
}
