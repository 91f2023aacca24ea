import type { FoldCode } from '../../machines/fold-transitions.ts';

/**
 * What is wrong with the audit of a session.
 *
 * - `GENESIS_DIFFERS`: the session did not begin with what the hash of its begin says;
 * - `TRANSITION_MISSING`: a transition is not there, or the session has another version than its last one;
 * - `LINK_BROKEN`: a transition names another predecessor than the one before it, or begins where that did not end;
 * - `HASH_DIFFERS`: the columns of a transition are not those that were hashed;
 * - `FORMAT_UNKNOWN`: the transition, or its payload, is in no form that this build knows;
 * - `PAYLOAD_MISSING`, `PAYLOAD_DIFFERS`: the payload's row is gone, though it was not erased, or its payload is another one;
 * - `TURNS_DIFFER`, `OUTCOMES_DIFFER`: the turns, or the outcomes of executions, are not those that the transition wrote;
 * - `TURNS_UNACCOUNTED`: the session has more or fewer turns than its snapshot says;
 * - `OUTCOMES_UNACCOUNTED`: executions are settled, and no transition says so;
 * - `ROWS_DIFFER`: the row of the session, of an execution, a round or a model call, or what of a turn is no content, is not as the last
 *   transition that names it left it, or params are not those of their digest;
 * - `ROWS_UNACCOUNTED`: executions, rounds or model calls are there that no transition names;
 * - and what the fold finds.
 */
export type FindingCode =
  | 'GENESIS_DIFFERS'
  | 'TRANSITION_MISSING'
  | 'LINK_BROKEN'
  | 'HASH_DIFFERS'
  | 'FORMAT_UNKNOWN'
  | 'PAYLOAD_MISSING'
  | 'PAYLOAD_DIFFERS'
  | 'TURNS_DIFFER'
  | 'OUTCOMES_DIFFER'
  | 'TURNS_UNACCOUNTED'
  | 'OUTCOMES_UNACCOUNTED'
  | 'ROWS_DIFFER'
  | 'ROWS_UNACCOUNTED'
  | FoldCode;

/** One thing that is wrong: what, where, and what stands there in place of what should. No contents, so it may be logged. */
export interface Finding {
  code: FindingCode;
  /** The transition; `null` where it is about the session's row. */
  sequence: number | null;
  found: string;
  wanted: string;
}
