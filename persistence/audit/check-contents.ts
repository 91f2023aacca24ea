import type { EntityManager } from '@mikro-orm/postgresql';
import { isSettled } from '../../machines/execution-status.ts';
import { type AuditedOutcome, type AuditedTurn, outcomeFacts, turnFacts } from '../audited-facts.ts';
import { type AuditedTurnRow, turnRowFacts } from '../audited-rows.ts';
import { saltedDigest } from '../keys/salted-digest.ts';
import type { SessionKey } from '../read-session.ts';
import { differs } from './check-chain.ts';
import { readCopiedFacts } from './copied-facts.ts';
import type { Finding } from './finding.ts';
import type { VerifiedRow } from './read-audit-rows.ts';

/** A row whose payload is the one that was hashed, so that its lists can be believed. */
export type BelievedRow = VerifiedRow & { salt: string; payload: NonNullable<VerifiedRow['payload']> };

/**
 * Compares the turns and the outcomes of a few transitions with what their digests say. What moved on since, by a later transition that says
 * so, can no longer be compared: an outcome that was unknown and is known by now.
 */
export async function checkContents(
  em: EntityManager,
  key: SessionKey,
  rows: readonly BelievedRow[],
): Promise<Finding[]> {
  const turns = await readTurns(em, key, [...new Set(rows.flatMap(({ payload }) => payload.turns))]);
  const outcomes = await readOutcomes(em, key, [...new Set(rows.flatMap(({ payload }) => payload.outcomes))]);
  const findings: Finding[] = [];
  for (const { sequence, salt, payload, turnsDigest, outcomesDigest } of rows) {
    const rowsOfTurns = payload.turns.flatMap((index) => turns.get(index) ?? []);
    const written = rowsOfTurns.map(turnFacts);
    const rowFacts = saltedDigest(
      salt,
      rowsOfTurns.map((turn) => turnRowFacts(turn, Number(turn.at))),
    );
    const isThere = rowsOfTurns.length === payload.turns.length;
    if (isThere && payload.rows !== undefined && payload.turns.length > 0 && rowFacts !== payload.rows.turns) {
      findings.push({
        code: 'ROWS_DIFFER',
        sequence,
        found: 'turns with other columns',
        wanted: 'as they were written',
      });
    }
    const turnsFound = differs('TURNS_DIFFER', sequence, saltedDigest(salt, written), turnsDigest);
    const turnsFoundOrGone =
      turnsFound ?? differs('TURNS_DIFFER', sequence, ...counted(written, payload.turns, 'turns'));
    if (turnsFoundOrGone !== null) findings.push(turnsFoundOrGone);
    const settled = payload.outcomes.flatMap((id) => outcomes.get(id) ?? []);
    const digest = saltedDigest(salt, settled.map(outcomeFacts));
    const outcomesFound =
      differs('OUTCOMES_DIFFER', sequence, digest, outcomesDigest) ??
      differs('OUTCOMES_DIFFER', sequence, ...counted(settled, payload.outcomes, 'executions'));
    if (outcomesFound !== null && !(await hasMovedOn(em, key, sequence, settled))) findings.push(outcomesFound);
  }
  return findings;
}

/** How many are there, and how many should be: a list of what is not there has the digest of an empty one. */
function counted(found: readonly unknown[], wanted: readonly unknown[], what: string): [string, string] {
  return [`${found.length} ${what}`, `${wanted.length} ${what}`];
}

/** Compares the prefix that a fork began with. */
export async function checkCopied(em: EntityManager, key: SessionKey, row: BelievedRow): Promise<Finding[]> {
  const { sequence, salt, payload, turnsDigest, outcomesDigest } = row;
  const copied = await readCopiedFacts(em, key, payload.turns.length - 1, salt);
  return [
    differs('TURNS_DIFFER', sequence, copied.turnsDigest, turnsDigest),
    differs('OUTCOMES_DIFFER', sequence, copied.outcomesDigest, outcomesDigest),
    ...(payload.rows === undefined
      ? []
      : [
          differs('ROWS_DIFFER', sequence, copied.rows.turns, payload.rows.copied?.turns ?? 'none'),
          differs('ROWS_DIFFER', sequence, copied.rows.executions, payload.rows.copied?.executions ?? 'none'),
        ]),
  ].filter((finding) => finding !== null);
}

/** A turn with when it was written, in milliseconds. */
type TurnFound = AuditedTurn & AuditedTurnRow & { at: string };

async function readTurns(em: EntityManager, key: SessionKey, indexes: number[]): Promise<Map<number, TurnFound>> {
  if (indexes.length === 0) return new Map();
  const rows = (await em.execute(
    `select turn_index as "turnIndex", role, content, parts, execution_id as "executionId", call_ordinal as "callOrdinal",
            turn_id as "turnId", run_id as "runId", call_turn_id as "callTurnId", token_usage_json as "tokenUsageJson", metadata, normalised,
            (extract(epoch from created_at) * 1000)::text as at
       from turnlock.agent_turns where tenant_id = ? and session_id = ? and turn_index in (${places(indexes)})`,
    [key.tenantId, key.sessionId, ...indexes],
  )) as TurnFound[];
  return new Map(rows.map((row) => [row.turnIndex, row]));
}

async function readOutcomes(em: EntityManager, key: SessionKey, ids: string[]): Promise<Map<string, AuditedOutcome>> {
  if (ids.length === 0) return new Map();
  const rows = (await em.execute(
    `select execution_id as "executionId", status, attempt, output_payload as "outputPayload", error_message as "errorMessage"
       from turnlock.agent_tool_executions where tenant_id = ? and session_id = ? and execution_id in (${places(ids)})`,
    [key.tenantId, key.sessionId, ...ids],
  )) as AuditedOutcome[];
  return new Map(rows.map((row) => [row.executionId, row]));
}

function places(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Whether a later transition settled one of the executions anew, or began another attempt of it. */
async function hasMovedOn(
  em: EntityManager,
  { sessionId }: SessionKey,
  sequence: number,
  outcomes: readonly AuditedOutcome[],
): Promise<boolean> {
  for (const { executionId, status } of outcomes) {
    const begun = JSON.stringify([{ executionId }]);
    const [found] = (await em.execute(
      `select exists (select from turnlock.agent_transition_payloads p
          where p.session_id = ? and p.sequence > ? and (p.payload -> 'outcomes' @> ?::jsonb
            or (?::boolean and p.payload -> 'event' -> 'executions' @> ?::jsonb))) as "hasMoved"`,
      [sessionId, sequence, JSON.stringify([executionId]), !isSettled(status), begun],
    )) as [{ hasMoved: boolean }];
    if (found.hasMoved) return true;
  }
  return false;
}

/** How many executions are settled without a transition that says so. */
export async function countUnaccounted(em: EntityManager, key: SessionKey): Promise<number> {
  const [row] = (await em.execute(
    `select count(*)::int as count from turnlock.agent_tool_executions e
      where e.tenant_id = ? and e.session_id = ? and e.status in ('SUCCESS', 'FAILED', 'TIMED_OUT')
        and e.execution_id::text not in (
          select jsonb_array_elements_text(p.payload -> 'outcomes') from turnlock.agent_transition_payloads p
           where p.session_id = ? and jsonb_typeof(p.payload -> 'outcomes') = 'array')`,
    [key.tenantId, key.sessionId, key.sessionId],
  )) as [{ count: number }];
  return row.count;
}
