/** What a refusal by the database means. */
export interface SchemaRefusal {
  /** The CONSTRAINT name that stands in the error. */
  readonly name: string;
  readonly meaning: string;
}

/**
 * The SQLSTATEs that the triggers and functions of our schema raise: class TL, one per guard. They are promises of the database, whoever
 * writes; the runtime checks the same before it writes, so a code met here is a stale writer, a bug, or somebody else's SQL.
 */
export const SCHEMA_REFUSALS = {
  TL001: { name: 'session_insert', meaning: 'a session begins IDLE, with version 0, token 0 and no lease' },
  TL002: { name: 'session_transition', meaning: 'the session may not go from that state to that one' },
  TL003: { name: 'session_version', meaning: 'a session changes only with the next version' },
  TL004: { name: 'session_history', meaning: 'a version has no matching transition row at commit' },
  TL005: { name: 'session_token', meaning: 'a fencing token never falls' },
  TL006: { name: 'session_identity', meaning: 'whose a session is and where it comes from never changes' },
  TL007: {
    name: 'session_erasure',
    meaning: 'a session is only erased whole, once it is over and its payloads are erased',
  },
  TL010: { name: 'transition_sequence', meaning: 'a transition row has no predecessor' },
  TL011: {
    name: 'transition_pair',
    meaning: 'a transition does not start where the one before it ended, or is illegal',
  },
  TL012: { name: 'transition_ahead', meaning: 'a transition row is beyond its session’s version at commit' },
  TL013: { name: 'audit_append_only', meaning: 'the audit is only appended to while its session lives' },
  TL014: { name: 'payload_erasure', meaning: 'a payload may only be erased, once and whole' },
  TL020: { name: 'turn_gap', meaning: 'a turn has no predecessor at commit' },
  TL021: { name: 'turn_immutable', meaning: 'a turn never changes' },
  TL022: { name: 'history_delete', meaning: 'turns, executions and approvals stay while their session lives' },
  TL030: { name: 'execution_insert', meaning: 'an execution begins PENDING, RUNNING with attempt 1, or settled' },
  TL031: { name: 'execution_transition', meaning: 'the execution may not go from that status to that one' },
  TL032: { name: 'execution_identity', meaning: 'which call an execution handles never changes' },
  TL033: {
    name: 'execution_params',
    meaning:
      'params, digest and key of an execution change together, for the person who is asked, and never once it was started',
  },
  TL034: { name: 'execution_attempt', meaning: 'a start counts one attempt and names its token' },
  TL035: { name: 'execution_running', meaning: 'nothing runs unless its session is EXECUTING_TOOL at commit' },
  TL036: {
    name: 'execution_unapproved',
    meaning: 'a call that people were asked about starts only with their grant of its params',
  },
  TL040: {
    name: 'approval_sealed',
    meaning: 'what a round of approval asks never changes; it is decided once and used once',
  },
  TL041: {
    name: 'approval_insert',
    meaning: 'a round of approval begins undecided, after the one before it was decided',
  },
  TL050: { name: 'inbox_completed', meaning: 'a COMPLETED session takes no message' },
  TL060: { name: 'argument_invalid', meaning: 'an argument of a function is missing or malformed' },
  TL061: { name: 'session_missing', meaning: 'the tenant has no such session' },
  TL062: { name: 'external_id_conflict', meaning: 'the external id belongs to a session of another user or agent' },
  TL063: { name: 'message_conflict', meaning: 'the session has a message of this id with another content' },
  TL064: { name: 'memory_conflict', meaning: 'the user has a memory of this id with another content' },
  TL065: { name: 'memory_missing', meaning: 'the user has not all of the memories that are to be superseded' },
  TL066: { name: 'memory_superseded', meaning: 'a memory is superseded once' },
  TL070: { name: 'truncate_refused', meaning: 'TRUNCATE would take the audit with it' },
  TL080: { name: 'memory_user', meaning: 'a memory comes from a session of its own user' },
  TL081: { name: 'memory_immutable', meaning: 'a memory never changes; another one takes its place' },
  TL082: { name: 'memory_language', meaning: 'the language of a memory is a text search configuration' },
} as const satisfies Record<string, SchemaRefusal>;

/** An SQLSTATE of {@link SCHEMA_REFUSALS}. */
export type SchemaRefusalCode = keyof typeof SCHEMA_REFUSALS;

/** Whether `sqlState` is one of ours. */
export function isSchemaRefusal(sqlState: unknown): sqlState is SchemaRefusalCode {
  return typeof sqlState === 'string' && Object.hasOwn(SCHEMA_REFUSALS, sqlState);
}
