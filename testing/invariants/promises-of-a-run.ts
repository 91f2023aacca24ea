import { resolveLimits } from '../../limits.ts';
import { MESSAGE_REPEATED } from '../../persistence/inbox.ts';
import { PROMISE_NAMES } from './promise-names.ts';

/** For how long a lease holds after a commit at the least; on a server the two times that are compared are not read at once. */
const LEASE_MS = resolveLimits().leaseMs - 1_000;

/**
 * What rows show of a run of the kit, by name: its leases are of the default length, and nobody completes a session. `$1`: holders that gave
 * their sessions back, of which no row tells. `$2`: ids of messages that may have come once their session was over. Each statement finds what
 * breaks the promise, one row for each.
 */
export const PROMISES_OF_A_RUN: { readonly [inWords: string]: string } = {
  [PROMISE_NAMES.taken]: `SELECT 'session ' || s.external_id || ' was taken while its lease was live' AS what
    FROM turnlock.agent_transitions t JOIN turnlock.agent_sessions s USING (session_id)
    CROSS JOIN LATERAL (SELECT h.sequence, h.created_at, p.payload->>'holder' AS holder FROM turnlock.agent_transitions h
      JOIN turnlock.agent_transition_payloads p USING (session_id, sequence)
      WHERE h.session_id = t.session_id AND h.token = t.token - 1 AND p.payload->>'holder' IS NOT NULL
      ORDER BY h.sequence DESC LIMIT 1) AS held
    WHERE t.event = 'worker.tookOver' AND t.created_at < held.created_at + interval '${LEASE_MS} milliseconds'
      AND held.holder <> ALL($1::text[]) AND NOT EXISTS (SELECT FROM turnlock.agent_transitions r
        WHERE r.session_id = t.session_id AND r.sequence >= held.sequence AND r.sequence < t.sequence
          AND r.to_state NOT IN ('PLANNING', 'EXECUTING_TOOL'))`,
  [PROMISE_NAMES.refused]: `SELECT i.content || ' in session ' || s.external_id || ' was refused: ' || i.rejected_code AS what
    FROM turnlock.agent_inbox i JOIN turnlock.agent_sessions s USING (session_id)
    WHERE i.rejected_at IS NOT NULL AND i.rejected_code <> '${MESSAGE_REPEATED}' AND i.message_id <> ALL($2::text[])`,
};
