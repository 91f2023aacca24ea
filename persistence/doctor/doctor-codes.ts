/** How bad a finding is. `error`: something is not as it must be. `warning`: time, a deploy or a person has to do something. */
export type Severity = 'error' | 'warning';

interface DoctorKind {
  severity: Severity;
  /** What it is about. */
  about: 'database' | 'session';
  /** What is wrong, in one sentence. */
  says: string;
  /** What repairs it, in one sentence. */
  repair: string;
}

const OWNER =
  'Nothing of ours writes this: see what wrote past the runtime, and have the owner of the schema put it right.';

/** Everything that doctor finds. Codes are stable; `docs/on-call.md` has a line for each. */
export const DOCTOR_CODES = {
  SCHEMA_DIFFERS: {
    severity: 'error',
    about: 'database',
    says: 'An object of the schema is not that of this build.',
    repair: 'Have the owner of the schema restore it from `turnlock migrate --sql`.',
  },
  CLOCK_SHIFTED: {
    severity: 'error',
    about: 'database',
    says: 'The clock of leases and deadlines was moved, as only tests do.',
    repair: 'Have the owner run UPDATE turnlock.turnlock_clock SET offset_ms = 0 while nothing is at work.',
  },
  CLOCK_SKEW: {
    severity: 'warning',
    about: 'database',
    says: 'The clocks of this host and of the database differ.',
    repair: 'Nothing of ours compares them; set the host right so that its logs fit.',
  },
  FSYNC_OFF: {
    severity: 'warning',
    about: 'database',
    says: 'The server may lose acknowledged commits when its machine loses power.',
    repair: 'Set fsync = on.',
  },
  SYNCHRONOUS_COMMIT_OFF: {
    severity: 'warning',
    about: 'database',
    says: 'Commits of your own transactions may be lost in a crash; ours turn it on.',
    repair: 'Set synchronous_commit = on.',
  },
  RLS_BYPASSED: {
    severity: 'warning',
    about: 'database',
    says: 'Row-level security does not hold the role that looked.',
    repair: 'Connect as a role that was given rights by `turnlock migrate --grant-to`.',
  },
  MEMORY_OWED: {
    severity: 'warning',
    about: 'database',
    says: 'A vector or a summary is owed for what is remembered, and nobody makes it.',
    repair:
      'Run a worker that has the embedder and the agent; `turnlock memory reembed` tries vectors again that were given up.',
  },
  MEMORY_NOT_EMBEDDED: {
    severity: 'warning',
    about: 'database',
    says: 'Memories have no vector although vectors are kept: they are found by their words alone.',
    repair: 'Run `turnlock memory reembed`.',
  },
  QUARANTINED: {
    severity: 'error',
    about: 'session',
    says: 'No build can go on with the session: its snapshot cannot be read.',
    repair: 'A fork has its history and goes on in its place; a backup has its snapshot.',
  },
  STRANDED: {
    severity: 'warning',
    about: 'session',
    says: 'The session is newer than this build, which leaves it alone.',
    repair: 'Run a build of that version or a newer one.',
  },
  AUDIT_INCOMPLETE: {
    severity: 'error',
    about: 'session',
    says: 'The session and its last transition tell different stories, or transitions are missing.',
    repair: OWNER,
  },
  CHAIN_BROKEN: {
    severity: 'error',
    about: 'session',
    says: 'The audit does not verify: a transition, its payload, or what it wrote was changed or is gone.',
    repair: 'Compare with a backup, or with a chain head that was exported.',
  },
  FOLD_DIFFERS: {
    severity: 'error',
    about: 'session',
    says: 'The recorded events do not lead to the states or the snapshot that are stored.',
    repair: OWNER,
  },
  TURN_ORDER: {
    severity: 'error',
    about: 'session',
    says: 'Turns are missing, doubled, or not as many as the session counted.',
    repair: OWNER,
  },
  HISTORY_INVALID: {
    severity: 'error',
    about: 'session',
    says: 'A call has not its tool turn where it must stand, or a tool turn has no call.',
    repair: OWNER,
  },
  EXECUTION_ORPHANED: {
    severity: 'error',
    about: 'session',
    says: 'An execution is open of which its session knows nothing.',
    repair: OWNER,
  },
  EXECUTION_MISMATCH: {
    severity: 'error',
    about: 'session',
    says: 'The session and the row of an open execution tell different stories.',
    repair: OWNER,
  },
  LEASE_AT_REST: {
    severity: 'error',
    about: 'session',
    says: 'Somebody holds a session that owes nothing.',
    repair: 'Take it away.',
  },
  LEASE_TOO_LONG: {
    severity: 'warning',
    about: 'session',
    says: 'A lease lasts far longer than leases do: if its holder dies, the session waits as long.',
    repair: 'Take it away where the holder is gone.',
  },
  STUCK: {
    severity: 'warning',
    about: 'session',
    says: 'Work is owed and nobody is at it.',
    repair: 'Run workers that know its agent, or go on with it by hand.',
  },
  STUCK_AT_WORK: {
    severity: 'warning',
    about: 'session',
    says: 'A worker holds the session and nothing has come of it for long.',
    repair: 'Take the session from it; any other worker goes on.',
  },
  ROUND_MISSING: {
    severity: 'error',
    about: 'session',
    says: 'A call waits for a person, and nobody is asked.',
    repair: 'Settle it by hand.',
  },
  ROUND_ORPHANED: {
    severity: 'error',
    about: 'session',
    says: 'A person is asked about a call that does not wait.',
    repair: OWNER,
  },
  UNANNOUNCED: {
    severity: 'warning',
    about: 'session',
    says: 'A person is asked, and the hook that tells people was not told.',
    repair: 'Run a worker with `onAwaiting`.',
  },
  CHILD_MISSING: {
    severity: 'error',
    about: 'session',
    says: 'A call waits for a child session that is not there.',
    repair: 'Cancel its run with session.cancel().',
  },
  EVIDENCE_FORGOTTEN: {
    severity: 'error',
    about: 'session',
    says: 'A late result came, and nothing will look at it.',
    repair: 'The next run of the session takes it: send a message.',
  },
  CLAIM_STUCK: {
    severity: 'error',
    about: 'session',
    says: 'A business key is held by an execution that is over: nobody else can act under it.',
    repair:
      'Find out by the key whether it happened; then have the owner set the state of the claim to succeeded or free.',
  },
  CLAIM_MISMATCH: {
    severity: 'error',
    about: 'session',
    says: 'A business key and the execution that has it tell different stories.',
    repair: OWNER,
  },
} as const satisfies Record<string, DoctorKind>;

/** The name of something that doctor finds. */
export type DoctorCode = keyof typeof DOCTOR_CODES;

/** What one check found. */
export interface Found {
  code: DoctorCode;
  /** Absent: it concerns the database. */
  tenantId?: string;
  sessionId?: string;
  /** What of it: `turn 3`, an execution, a trigger; `null`: the whole. */
  place: string | null;
  found: string;
  wanted: string;
  /** The execution that it is about. */
  executionId?: string;
}
