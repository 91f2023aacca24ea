import { expect } from 'vitest';
import { saltedDigest } from '../../persistence/keys/salted-digest.ts';
import type { RuntimeDatabase } from './runtime-database.ts';

interface AuditRow {
  sequence: number;
  version: number;
  previous_hash: string;
  hash: string;
  genesis_hash: string;
  payload_digest: string;
  salt: string;
  payload: unknown;
}

/**
 * Asserts that the audit of a session is whole: as many transitions as its version says, each with its predecessor's hash, and each
 * payload the one that was vouched for when it was written.
 */
export async function expectWholeAudit(database: RuntimeDatabase, sessionId: string): Promise<void> {
  const rows: AuditRow[] = await database.query(
    `SELECT t.sequence, s.version, t.previous_hash, t.hash, s.genesis_hash, t.payload_digest, p.salt, p.payload
       FROM turnlock.agent_sessions s
       JOIN turnlock.agent_transitions t USING (session_id)
       JOIN turnlock.agent_transition_payloads p ON p.session_id = t.session_id AND p.sequence = t.sequence
      WHERE s.session_id = $1 ORDER BY t.sequence`,
    [sessionId],
  );
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, place) => place + 1));
  expect(rows.at(-1)?.version ?? 0).toBe(rows.length);
  const before = [rows[0]?.genesis_hash, ...rows.map(({ hash }) => hash)].slice(0, rows.length);
  expect(rows.map((row) => row.previous_hash)).toEqual(before);
  expect(rows.map((row) => row.payload_digest)).toEqual(rows.map(({ salt, payload }) => saltedDigest(salt, payload)));
}
