import type { AgentTurnRow } from './entities/agent-turn.entity.ts';
import { AgentTurn } from './entities/agent-turn.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { TurnRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** A turn as it is read: with the time of its commit. */
export type StoredTurn = TurnRow & { createdAt: Date };

/** Which turns are read. */
export interface TurnsQuery {
  /** Only those of this index and later ones. Default 0: from the first one on. */
  from?: number;
  /** How many at the most. Default: all. */
  limit?: number;
}

/** Turns of a session, by index. */
export async function readTurns(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  { from = 0, limit }: TurnsQuery = {},
): Promise<StoredTurn[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    // Plain rows: an entity for each takes five times as long.
    const query = em
      .createQueryBuilder(AgentTurn)
      .where({ tenantId, sessionId, ...(from === 0 ? {} : { turnIndex: { $gte: from } }) })
      .orderBy({ turnIndex: 'asc' });
    if (limit !== undefined) query.limit(limit);
    const rows = await query.execute<AgentTurnRow[]>('all');
    return rows.map(toTurn);
  });
}

function toTurn(row: AgentTurnRow): StoredTurn {
  return {
    turnId: row.turnId,
    turnIndex: row.turnIndex,
    runId: row.runId ?? null,
    role: row.role as TurnRow['role'],
    content: row.content ?? '',
    parts: row.parts as TurnRow['parts'],
    tokenUsageJson: row.tokenUsageJson as TurnRow['tokenUsageJson'],
    executionId: row.executionId ?? null,
    callTurnId: row.callTurnId ?? null,
    callOrdinal: row.callOrdinal ?? null,
    normalised: (row.normalised ?? null) as TurnRow['normalised'],
    metadata: row.metadata as TurnRow['metadata'],
    createdAt: row.createdAt,
  };
}
