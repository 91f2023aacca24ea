import type { AgentTurnRow } from './entities/agent-turn.entity.ts';
import { AgentTurn } from './entities/agent-turn.entity.ts';
import type { SessionKey } from './read-session.ts';
import type { TurnRow } from './row-changes.ts';
import { inTransaction, type Store } from './session-transaction.ts';

/** A turn as it is read: with the time of its commit. */
export type StoredTurn = TurnRow & { createdAt: Date };

/** The turns of a session, by index. `from` is inclusive and defaults to 0. */
export async function readTurns(store: Store, key: SessionKey, from = 0): Promise<StoredTurn[]> {
  const { tenantId, sessionId } = key;
  return inTransaction(store, { tenantId }, async (em) => {
    const rows = await em.find(
      AgentTurn,
      { tenantId, sessionId, turnIndex: { $gte: from } },
      { orderBy: { turnIndex: 'asc' }, disableIdentityMap: true },
    );
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
