import type { DatabaseNames } from '../database-names.ts';

/** Whose rights. */
export type RoleKind = 'runtime' | 'reader' | 'operator' | 'client' | 'testing';

const RUNTIME_TABLES: Record<string, string> = {
  agent_sessions: 'SELECT, INSERT, UPDATE',
  agent_turns: 'SELECT, INSERT',
  agent_tool_executions: 'SELECT, INSERT, UPDATE',
  agent_transitions: 'SELECT, INSERT',
  agent_transition_payloads: 'SELECT, INSERT',
  agent_tool_evidence: 'SELECT, INSERT',
  agent_inbox: 'SELECT, INSERT, UPDATE, DELETE',
  agent_approvals: 'SELECT, INSERT, UPDATE',
  agent_model_calls: 'SELECT, INSERT',
  agent_tool_versions: 'SELECT, INSERT',
  agent_controls: 'SELECT',
  agent_idempotency_claims: 'SELECT, INSERT, UPDATE',
  agent_memories: 'SELECT, INSERT, UPDATE, DELETE',
  agent_memory_tasks: 'SELECT, INSERT, UPDATE, DELETE',
};

const TABLE_RIGHTS: Record<RoleKind, Record<string, string>> = {
  runtime: RUNTIME_TABLES,
  // What the service reads, and nothing more.
  reader: Object.fromEntries(Object.keys(RUNTIME_TABLES).map((table) => [table, 'SELECT'])),
  operator: {},
  client: {},
  testing: { turnlock_clock: 'SELECT, UPDATE' },
};

const CLIENT_FUNCTIONS = [
  'create_session(text, text, text, int, text, text, int, jsonb, text, jsonb, jsonb)',
  'enqueue(text, uuid, text, text, text, jsonb, jsonb, jsonb, uuid)',
  'remember(text, text, text, text, uuid, text, jsonb, jsonb, timestamptz, uuid[])',
];

const FUNCTION_RIGHTS: Record<RoleKind, string[]> = {
  runtime: [
    'turnlock_now()',
    'claim_sessions(int, jsonb, uuid[])',
    'sweep_sessions(int, jsonb, uuid[])',
    'why_stranded(uuid, jsonb)',
    'unannounced_rounds(int, uuid[])',
    'next_due_at()',
    'removed_sessions(uuid[])',
    'store_memory(text, text, text, text, uuid, text, jsonb, jsonb, timestamptz, uuid[], uuid, uuid, int, int)',
    'claim_memory_tasks(int, text[], text[], int, uuid[])',
    // It may name any tenant as it is: what clients may do is no more.
    ...CLIENT_FUNCTIONS,
  ],
  reader: ['turnlock_now()', 'why_stranded(uuid, jsonb)', 'removed_sessions(uuid[])'],
  operator: [
    'turnlock_now()',
    'find_sessions(text, uuid, text, jsonb, uuid, int, uuid, text)',
    'list_sessions(uuid, int, text)',
    'list_keeping_tenants(text, int)',
    'put_control(text, text, text, text, bigint, text)',
    'drop_control(uuid)',
    'list_controls()',
    'list_removable(jsonb, text, uuid, int)',
    'remove_sessions(uuid[], jsonb)',
    'count_left_claims(bigint, text)',
    'remove_claims(bigint, text, int)',
    'count_operator_reads(bigint)',
    'remove_operator_reads(bigint, int)',
    'count_old_memories(bigint, text)',
    'remove_memories(bigint, text, int)',
    'list_erasable(text, text)',
    'erase_sessions(text, uuid[], text)',
    'erase_left(text, text, int)',
  ],
  client: CLIENT_FUNCTIONS,
  testing: ['turnlock_now()'],
};

/** The statements that give `role` the rights of `kind`. Each stands for itself, and may be repeated. */
export function grantStatements(schema: string, kind: RoleKind, role: string): string[] {
  return [
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    ...Object.entries(TABLE_RIGHTS[kind]).map(([table, rights]) => `GRANT ${rights} ON ${schema}.${table} TO ${role}`),
    ...FUNCTION_RIGHTS[kind].map((signature) => `GRANT EXECUTE ON FUNCTION ${schema}.${signature} TO ${role}`),
  ];
}

/** Roles that a migration makes where it may. The testing role is never among them. */
export function createdRoles(names: DatabaseNames): [RoleKind, string][] {
  return [
    ['runtime', names.runtimeRole],
    ['reader', names.readerRole],
    ['operator', names.operatorRole],
    ['client', names.clientRole],
  ];
}

/**
 * Makes missing roles where the migrating role may. Roles belong to the cluster and our lock to a database, so another database's migration
 * may be making the same role now: both of its errors are fine. Where it may not, the migration goes on; `missingRoleStatements` says what
 * is left to do.
 */
export function createRolesSql(names: DatabaseNames): string[] {
  return createdRoles(names).map(
    ([, role]) => `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
END $$`,
  );
}

/** Takes EXECUTE from PUBLIC on every function, then gives each role that exists what is its own. */
export function grantRolesSql(names: DatabaseNames): string[] {
  const { schema } = names;
  const roles: [RoleKind, string][] = [...createdRoles(names), ['testing', names.testingRole]];
  return [
    // Ours only: an extension that stands in the same schema keeps its rights.
    `DO $$ DECLARE signature regprocedure; BEGIN
  FOR signature IN SELECT p.oid FROM pg_catalog.pg_proc p WHERE p.pronamespace = '${schema}'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
END $$`,
    `REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC`,
    ...roles.map(
      ([kind, role]) => `DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '${role}') THEN
${grantStatements(schema, kind, role)
  .map((statement) => `    ${statement};`)
  .join('\n')}
  END IF;
END $$`,
    ),
    // The migrator's own table, so that who connects can compare the schema's version with its build's. A migrator of the user's own has it elsewhere.
    ...[names.runtimeRole, names.readerRole, names.operatorRole].map(
      (role) => `DO $$ BEGIN
  IF to_regclass('${schema}.migrations') IS NOT NULL AND EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '${role}') THEN
    GRANT SELECT ON ${schema}.migrations TO ${role};
  END IF;
END $$`,
    ),
  ];
}
