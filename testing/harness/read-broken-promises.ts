import { isTurnlockError } from '../../errors.ts';
import type { Runtime } from '../../runtime/create-runtime.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import { readBroken } from '../invariants/check-promises.ts';
import { owingSessions } from '../invariants/owing-sessions.ts';
import { PROMISE_NAMES } from '../invariants/promise-names.ts';

/** A promise of Turnlock's own that does not hold. */
export interface BrokenPromise {
  /** Its name in words, one of `PROMISE_NAMES`. */
  promise: string;
  /** What was seen. */
  message: string;
}

const SESSIONS = `SELECT tenant_id, session_id, COALESCE(external_id, session_id::text) AS session
  FROM turnlock.agent_sessions ORDER BY session`;

/** What is broken of what the rows of a system at rest can show, the audit of every session included. */
export async function readBrokenPromises(
  database: Pick<KitDatabase, 'query'>,
  onlooker: () => Promise<Runtime>,
): Promise<BrokenPromise[]> {
  const owing = await owingSessions(database);
  const broken: BrokenPromise[] = owing.map(({ session, state }) => ({
    promise: PROMISE_NAMES.rests,
    message: `session ${session} is ${state} and owes work`,
  }));
  broken.push(...(await readBroken(database)).map(({ invariant, message }) => ({ promise: invariant, message })));
  for (const { tenant_id: tenantId, session_id: sessionId, session } of await database.query(SESSIONS)) {
    for (const code of await findingsOf(await onlooker(), { tenantId, sessionId })) {
      broken.push({ promise: PROMISE_NAMES.audit, message: `session ${session}: ${code}` });
    }
  }
  return broken;
}

/** What verifying a session finds; of one that is too broken to be opened, why. */
async function findingsOf(runtime: Runtime, key: { tenantId: string; sessionId: string }): Promise<string[]> {
  try {
    const { findings } = await (await runtime.session(key)).verify();
    return findings.map(({ code }) => code);
  } catch (error) {
    if (isTurnlockError(error)) return [error.code];
    throw error;
  }
}
