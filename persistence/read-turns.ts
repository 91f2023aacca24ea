import type { AgentTurnRow } from './entities/agent-turn.entity.ts';
import { AgentTurn } from './entities/agent-turn.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { TurnRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** A turn as it is read: with the time of its commit. */
export type StoredTurn = TurnRow & { createdAt: Date };

/** The turns of a session, by index. */
export async function readTurns(store: Store, key: SessionKey): Promise<StoredTurn[]> {
  const { tenantId, sessionId } = key;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    // Plain rows: an entity for each takes five times as long.
    const rows = await em
      .createQueryBuilder(AgentTurn)
      .where({ tenantId, sessionId })
      .orderBy({ turnIndex: 'asc' })
      .execute<AgentTurnRow[]>('all');
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
