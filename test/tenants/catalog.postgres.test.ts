import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';

/** What the catalogs say about the walls between tenants; a table, a foreign key or a function that is new is held to the same. */

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: (await freshDatabase()).url });
  await client.connect();
});
afterAll(() => client.end());

// biome-ignore lint/suspicious/noExplicitAny: rows of the catalogs
const rowsOf = async (text: string): Promise<any[]> => (await client.query(text)).rows;

const WITH_TENANT = `SELECT c.oid, c.relname, c.relrowsecurity FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = 'turnlock'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'tenant_id' AND NOT a.attisdropped`;

/** Tables without a tenant, and why nothing of a tenant's is in them. */
const WITHOUT_TENANT = {
  agent_operator_reads: 'what operators looked for: no role of ours reads it',
  agent_tool_versions: 'schemas of the code, which all tenants share',
  migrations: 'which migrations were applied',
  turnlock_clock: 'one number',
};

test('C66 every table either has a tenant and row-level security, or is said to hold nothing of a tenant', async () => {
  const withTenant = await rowsOf(WITH_TENANT);
  expect(withTenant.filter(({ relrowsecurity }) => !relrowsecurity)).toEqual([]);
  const names = withTenant.map(({ relname }) => relname);
  const all = await rowsOf(
    `SELECT relname FROM pg_class WHERE relnamespace = 'turnlock'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
  );
  const others = all.map(({ relname }) => relname).filter((name) => !names.includes(name));
  expect(others.sort()).toEqual(Object.keys(WITHOUT_TENANT).sort());
});

test('C66 whatever a role may do to a table with a tenant, a policy compares the tenant: of what is read and of what is written', async () => {
  const policies = await rowsOf(
    `SELECT tablename, cmd, permissive, roles::text, qual, with_check FROM pg_policies WHERE schemaname = 'turnlock' ORDER BY tablename`,
  );
  const own = `((tenant_id)::text = NULLIF(current_setting('turnlock.tenant'::text, true), ''::text))`;
  const ofAll = { cmd: 'SELECT', qual: `((tenant_id IS NULL) OR ${own})`, with_check: null };
  const ofOne = { cmd: 'ALL', qual: own, with_check: own };
  const expected = (await rowsOf(WITH_TENANT)).map(({ relname }) => ({
    tablename: relname,
    permissive: 'PERMISSIVE',
    roles: '{public}',
    ...(relname === 'agent_controls' ? ofAll : ofOne),
  }));
  expect(policies).toEqual(expected.sort((a, b) => (a.tablename < b.tablename ? -1 : 1)));
  const granted = await rowsOf(
    `SELECT DISTINCT grantee, table_name FROM information_schema.role_table_grants
      WHERE table_schema = 'turnlock' AND grantee IN ('PUBLIC', 'turnlock_operator', 'turnlock_client')`,
  );
  // Only which migrations ran: who operates must see whether the schema is that of the build.
  expect(granted).toEqual([{ grantee: 'turnlock_operator', table_name: 'migrations' }]);
});

test('C66 no foreign key between rows of tenants can cross from one to another', async () => {
  const keys = await rowsOf(
    `SELECT k.conrelid::regclass::text AS "from", k.confrelid::regclass::text AS "to", k.conname AS name,
        (SELECT array_agg(a.attname::text ORDER BY p.n) FROM unnest(k.conkey) WITH ORDINALITY p(num, n)
           JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.num) AS columns
      FROM pg_constraint k WHERE k.contype = 'f' AND k.connamespace = 'turnlock'::regnamespace`,
  );
  const holdsTenant = (from: string) =>
    keys.some(
      (key) => key.from === from && key.columns.join() === 'tenant_id,session_id' && /agent_sessions$/.test(key.to),
    );
  const crossing = keys.filter(({ from, to, columns, name }) => {
    if (columns.includes('tenant_id')) return false;
    // A session belongs to one tenant, so what names its session together with what it points at cannot leave it.
    if (columns.includes('session_id') && columns.length > 1) return !holdsTenant(from);
    return !keys.some(
      (other) =>
        other.name !== name &&
        other.from === from &&
        other.to === to &&
        columns.every((column: string) => other.columns.includes(column)) &&
        other.columns.length > columns.length,
    );
  });
  expect(keys.length).toBeGreaterThan(15);
  expect(crossing.map(({ name }) => name)).toEqual([]);
});

/** What functions may be called by which role, and the columns that they answer with. */
const CALLABLE = `SELECT p.proname AS name, r.rolname AS role, p.prosecdef AS definer,
    COALESCE((SELECT array_agg(name::text) FROM unnest(p.proargnames, p.proargmodes) AS a(name, mode) WHERE mode IN ('t', 'o', 'b')),
      ARRAY[format_type(p.prorettype, NULL)]) AS columns
  FROM pg_proc p CROSS JOIN pg_roles r
  WHERE p.pronamespace = 'turnlock'::regnamespace AND r.rolname IN ('turnlock_runtime', 'turnlock_reader', 'turnlock_client', 'turnlock_operator')
    AND has_function_privilege(r.oid, p.oid, 'EXECUTE') ORDER BY 2, 1`;

/** All that the runtime and clients may learn across tenants: tenant, session, round of asking, task, and when something is due. */
const ACROSS = ['tenant_id', 'session_id', 'due_at', 'approval_id', 'task_id', 'timestamp with time zone'];

/** What a client is told of what it made itself. */
const OWN = ['created_session_id', 'is_new', 'enqueued_inbox_id', 'enqueued_run_id', 'remembered_id'];

/** What the transaction's tenant is told of its own sessions that are gone. */
const GONE = ['removed_at', 'removed_by'];

test('C66 what the runtime and clients may call as the owner answers with tenant, session and due time, or with what they made themselves', async () => {
  const callable = await rowsOf(CALLABLE);
  const wide = callable.filter(
    ({ role, definer, columns }) =>
      definer &&
      role !== 'turnlock_operator' &&
      !columns.every((column: string) => [...ACROSS, ...OWN, ...GONE].includes(column)),
  );
  expect(wide).toEqual([]);
  const names = (role: string) => callable.filter((row) => row.role === role).map(({ name }) => name);
  expect(names('turnlock_client')).toEqual(['create_session', 'enqueue', 'remember']);
  const reads = names('turnlock_reader').filter((name) => !/^is_legal_/.test(name));
  expect(reads).toEqual(['removed_sessions', 'turnlock_now', 'why_stranded']);
  const shared = names('turnlock_operator').filter((name) => names('turnlock_runtime').includes(name));
  expect(shared).toEqual(['turnlock_now']);
});

test('C66 every SECURITY DEFINER function has a fixed path that ends in pg_temp, is the owner’s, and PUBLIC executes none of any kind', async () => {
  const functions = await rowsOf(
    `SELECT p.proname AS name, p.prosecdef AS definer, p.proconfig AS config, p.proowner = n.nspowner AS "isOwners",
        EXISTS (SELECT FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0) AS "isPublic"
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'turnlock'`,
  );
  expect(functions.length).toBeGreaterThan(25);
  expect(functions.filter(({ isPublic, isOwners }) => isPublic || !isOwners)).toEqual([]);
  const paths = functions
    .filter(({ definer }) => definer)
    .map(({ config }) => config.find((one: string) => one.startsWith('search_path=')));
  expect([...new Set(paths)].sort()).toEqual([
    'search_path=pg_catalog, pg_temp',
    'search_path=pg_catalog, turnlock, pg_temp',
  ]);
});
