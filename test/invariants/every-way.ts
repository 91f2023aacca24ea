/** One way in which somebody with the application's role might change a session without its transition. */
export interface Way {
  readonly title: string;
  /** Statements of one transaction, or of one session where they end transactions themselves. `$session` stands for the session's id. */
  readonly statements: readonly string[];
  /** SQLSTATEs with which it may be refused. */
  readonly refusal: RegExp;
}

const BUMP = `UPDATE turnlock.agent_sessions SET version = version + 1 WHERE session_id = $session`;

const TRANSITION_COLUMNS = `session_id, sequence, tenant_id, run_id, from_state, to_state, event, event_id, cause, token, payload_digest,
  turns_digest, outcomes_digest`;

/** A transition row of one's own. */
const transition = (sequence: number | string, from: string, to: string, token: string = 's.lease_token') =>
  `INSERT INTO turnlock.agent_transitions (${TRANSITION_COLUMNS})
    SELECT s.session_id, ${sequence}, s.tenant_id, NULL, '${from}', '${to}', 'session.completed', gen_random_uuid()::text, 'user', ${token}, '', '', ''
      FROM turnlock.agent_sessions s WHERE s.session_id = $session`;

const NEXT = 's.version + 1';

/** Every column of a session with another value than any has. */
const SESSION_COLUMNS: Readonly<Record<string, string>> = {
  session_id: 'gen_random_uuid()',
  tenant_id: `'other'`,
  user_id: `'mallory'`,
  current_state: `'COMPLETED'`,
  active_model_id: `'cheaper'`,
  created_at: 'now()',
  updated_at: `now() + interval '1 hour'`,
  agent_name: `'other'`,
  agent_version: 'agent_version + 1',
  external_id: `'mine'`,
  machine_id: `'flow'`,
  machine_version: 'machine_version + 1',
  snapshot: `jsonb_set(snapshot, '{context,modelCalls}', '0')`,
  version: 'version + 2',
  lease_token: 'lease_token + 1',
  recoveries: 'recoveries + 1',
  parent_session_id: 'session_id',
  parent_execution_id: '(SELECT execution_id FROM turnlock.agent_tool_executions WHERE session_id = $session LIMIT 1)',
  depth: 'depth + 1',
  fork_origin_session_id: 'session_id',
  fork_origin_turn_index: '1',
  metadata: `'{"vip": true}'`,
  normalised: `'["/x"]'`,
  first_agent_version: 'first_agent_version + 1',
  first_machine_version: 'first_machine_version + 1',
  genesis_hash: `repeat('0', 64)`,
  erased_at: 'now()',
};

/** Columns that may change without a version: whose turn it is, and when somebody looks. */
export const FREE_COLUMNS = ['lease_holder', 'lease_expires_at', 'wake_at'];

/** The columns of a session that the ways below try. */
export const TRIED_COLUMNS: readonly string[] = Object.keys(SESSION_COLUMNS);

const AUDIT = ['agent_transitions', 'agent_transition_payloads', 'agent_turns', 'agent_tool_evidence'];

const columns: Way[] = Object.entries(SESSION_COLUMNS).flatMap(([column, value]): Way[] => [
  {
    title: `UPDATE of ${column}`,
    statements: [`UPDATE turnlock.agent_sessions SET ${column} = ${value} WHERE session_id = $session`],
    refusal: /^(TL00[1-7]|42501|23\d{3})$/,
  },
  ...(column === 'version'
    ? []
    : [
        {
          title: `UPDATE of ${column} with the next version`,
          statements: [
            `UPDATE turnlock.agent_sessions SET ${column} = ${value}, version = version + 1 WHERE session_id = $session`,
          ],
          refusal: /^(TL00[1-7]|42501|23\d{3})$/,
        },
      ]),
]);

const rows: Way[] = [
  ...AUDIT.flatMap((table): Way[] => [
    { title: `DELETE of ${table}`, statements: [`DELETE FROM turnlock.${table}`], refusal: /^42501$/ },
    { title: `TRUNCATE of ${table}`, statements: [`TRUNCATE turnlock.${table} CASCADE`], refusal: /^42501$/ },
    {
      title: `UPDATE of ${table}`,
      statements: [`UPDATE turnlock.${table} SET tenant_id = tenant_id WHERE session_id = $session`],
      refusal: /^(42501|TL014)$/,
    },
    {
      title: `INSERT … ON CONFLICT DO UPDATE of ${table}`,
      statements: [
        `INSERT INTO turnlock.${table} SELECT * FROM turnlock.${table} WHERE session_id = $session
          ON CONFLICT ON CONSTRAINT ${table}_pkey DO UPDATE SET tenant_id = 'other'`,
      ],
      refusal: /^(42501|TL014)$/,
    },
  ]),
  { title: 'DELETE of the session', statements: ['DELETE FROM turnlock.agent_sessions'], refusal: /^42501$/ },
  {
    title: 'a payload of one’s own in place of the one that was hashed',
    statements: [`UPDATE turnlock.agent_transition_payloads SET payload = '{}' WHERE session_id = $session`],
    refusal: /^42501$/,
  },
  {
    title: 'a payload for a transition that has one',
    statements: [
      `INSERT INTO turnlock.agent_transition_payloads (session_id, sequence, tenant_id, salt, payload)
        SELECT $session, 1, tenant_id, 's', '{}' FROM turnlock.agent_sessions WHERE session_id = $session`,
    ],
    refusal: /^23505$/,
  },
  {
    title: 'a payload for a transition that is none',
    statements: [
      `INSERT INTO turnlock.agent_transition_payloads (session_id, sequence, tenant_id, salt, payload)
        SELECT $session, 99, tenant_id, 's', '{}' FROM turnlock.agent_sessions WHERE session_id = $session`,
    ],
    refusal: /^23503$/,
  },
];

const transitions: Way[] = [
  { title: 'a version without a transition', statements: [BUMP], refusal: /^TL004$/ },
  { title: 'a transition without a version', statements: [transition(NEXT, 'IDLE', 'IDLE')], refusal: /^TL012$/ },
  { title: 'a transition far ahead', statements: [transition(99, 'IDLE', 'IDLE')], refusal: /^TL010$/ },
  { title: 'a transition once more', statements: [transition(1, 'IDLE', 'PLANNING')], refusal: /^23505$/ },
  {
    title: 'a transition under an event id that was used',
    statements: [
      transition(NEXT, 'IDLE', 'IDLE').replace(
        'gen_random_uuid()::text',
        '(SELECT event_id FROM turnlock.agent_transitions WHERE session_id = $session LIMIT 1)',
      ),
      BUMP,
    ],
    refusal: /^23505$/,
  },
  {
    title: 'a transition that begins elsewhere',
    statements: [transition(NEXT, 'PLANNING', 'IDLE'), BUMP],
    refusal: /^TL011$/,
  },
  {
    title: 'a transition of an illegal pair',
    statements: [transition(NEXT, 'IDLE', 'FAILED'), BUMP],
    refusal: /^TL011$/,
  },
  {
    title: 'a transition to another state than the session’s',
    statements: [transition(NEXT, 'IDLE', 'COMPLETED'), BUMP],
    refusal: /^TL004$/,
  },
  {
    title: 'a transition with another token',
    statements: [transition(NEXT, 'IDLE', 'IDLE', '77'), BUMP],
    refusal: /^TL004$/,
  },
  {
    title: 'two versions, of which only the second has a transition',
    statements: [BUMP, BUMP, transition('s.version', 'IDLE', 'IDLE')],
    refusal: /^TL010$/,
  },
  {
    title: 'a transition that is rolled back to a savepoint after the session took its version',
    statements: ['SAVEPOINT before', transition(NEXT, 'IDLE', 'IDLE'), 'ROLLBACK TO before', BUMP],
    refusal: /^TL004$/,
  },
];

const disguises: Way[] = [
  ['the tenant emptied before COMMIT', `SELECT set_config('turnlock.tenant', '', true)`],
  ['another tenant named before COMMIT', `SELECT set_config('turnlock.tenant', 'other', true)`],
  ['constraints deferred once more', 'SET CONSTRAINTS ALL DEFERRED'],
  ['another search path', 'SET LOCAL search_path = pg_temp, public'],
  [
    'the checks made early, in a block that swallows what they say',
    'DO $$ BEGIN SET CONSTRAINTS ALL IMMEDIATE; EXCEPTION WHEN OTHERS THEN NULL; END $$',
  ],
].map(
  ([title, statement]): Way => ({
    title: `a version without a transition: ${title}`,
    statements: [BUMP, statement as string],
    refusal: /^TL004$/,
  }),
);

const shadows: Way[] = [
  {
    title: 'temporary tables of the same names, which have the transition',
    statements: [
      'CREATE TEMP TABLE agent_transitions (LIKE turnlock.agent_transitions INCLUDING DEFAULTS)',
      'CREATE TEMP TABLE agent_sessions (LIKE turnlock.agent_sessions INCLUDING DEFAULTS)',
      'SET LOCAL search_path = pg_temp, turnlock',
      transition(NEXT, 'IDLE', 'IDLE').replace('INTO turnlock.', 'INTO pg_temp.'),
      BUMP,
    ],
    refusal: /^TL004$/,
  },
  {
    title: 'a function of one’s own that calls every pair legal',
    statements: [
      `CREATE FUNCTION pg_temp.is_legal_transition(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
      'SET LOCAL search_path = pg_temp, turnlock',
      transition(NEXT, 'IDLE', 'FAILED'),
    ],
    refusal: /^TL011$/,
  },
  {
    title: 'a function in the schema',
    statements: [`CREATE FUNCTION turnlock.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'`],
    refusal: /^42501$/,
  },
  {
    title: 'another body for a function of the schema',
    statements: [
      `CREATE OR REPLACE FUNCTION turnlock.check_session_history() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
    ],
    refusal: /^42501$/,
  },
];

const switches: Way[] = [
  'ALTER TABLE turnlock.agent_sessions DISABLE TRIGGER ALL',
  'ALTER TABLE turnlock.agent_transitions DISABLE TRIGGER chain_transition',
  'DROP TRIGGER check_session_history ON turnlock.agent_sessions',
  'ALTER TABLE turnlock.agent_sessions DISABLE ROW LEVEL SECURITY',
  `CREATE TRIGGER mine BEFORE INSERT ON turnlock.agent_transitions FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
  'CREATE RULE mine AS ON INSERT TO turnlock.agent_transitions DO INSTEAD NOTHING',
  'ALTER FUNCTION turnlock.chain_transition() SECURITY INVOKER',
  'CREATE POLICY mine ON turnlock.agent_transitions USING (true)',
  `SET session_replication_role = 'replica'`,
  'SET ROLE postgres',
  'SET SESSION AUTHORIZATION postgres',
  'GRANT turnlock_operator TO CURRENT_USER',
  'SELECT turnlock.drop_control(gen_random_uuid())',
].map((statement): Way => ({ title: statement, statements: [statement], refusal: /^(42501|42704)$/ }));

/** Every way that we could think of. */
export const WAYS: readonly Way[] = [...columns, ...rows, ...transitions, ...disguises, ...shadows, ...switches];
