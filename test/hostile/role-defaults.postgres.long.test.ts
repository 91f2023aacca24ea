import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { postgres } from '../../adapters/databases/postgres.ts';
import { defineTool, type Runtime } from '../../index.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import type { RuntimeDatabase } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { withClient } from '../support/with-client.ts';

const ROLE = `defaults_${randomUUID().slice(0, 8)}`;

let url: string;
let theirs: string;

/** What of the server's a schema that stands first in the path could put its own in place of. */
const EVIL = `
  CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC;
  CREATE FUNCTION evil.refuse() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'evil was called'; END $$;
  ${[
    ['set_config(text, text, boolean)', 'text'],
    ['current_setting(text)', 'text'],
    ['pg_advisory_xact_lock(bigint)', 'void'],
    ['pg_try_advisory_xact_lock(bigint)', 'boolean'],
    ['pg_notify(text, text)', 'void'],
    ['turnlock_now()', 'timestamptz'],
    ['gen_random_uuid()', 'uuid'],
    ['sha256(bytea)', 'bytea'],
    ['array_position(text[], text)', 'int'],
    ['pg_backend_pid()', 'int'],
    ['has_table_privilege(oid, text)', 'boolean'],
    ['is_legal_transition(text, text)', 'boolean'],
    ['equals(uuid, uuid)', 'boolean'],
    ['equals(text, text)', 'boolean'],
    ['equals(bigint, bigint)', 'boolean'],
    ['equals(integer, integer)', 'boolean'],
    ['extracts(jsonb, text)', 'jsonb'],
  ]
    .map(
      ([signature, type]) =>
        `CREATE FUNCTION evil.${signature} RETURNS ${type} LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.refuse(); RETURN${type === 'void' ? '' : ' NULL'}; END $$;`,
    )
    .join('\n')}
  ${['uuid', 'text', 'bigint', 'integer'].map((type) => `CREATE OPERATOR evil.= (FUNCTION = evil.equals, LEFTARG = ${type}, RIGHTARG = ${type});`).join('\n')}
  CREATE OPERATOR evil.-> (FUNCTION = evil.extracts, LEFTARG = jsonb, RIGHTARG = text);
  CREATE DOMAIN evil.uuid AS pg_catalog.uuid CHECK (value IS NULL);
  CREATE DOMAIN evil.jsonb AS pg_catalog.jsonb CHECK (value IS NULL);
  CREATE DOMAIN evil.text AS pg_catalog.text CHECK (value IS NULL);
  CREATE TABLE evil.agent_sessions (nothing int); CREATE TABLE evil.agent_inbox (nothing int); CREATE TABLE evil.pg_roles (nothing int);
  CREATE TABLE evil.marks (mark pg_catalog.text); GRANT ALL ON evil.marks TO PUBLIC;
  CREATE TABLE public.marks (mark text); GRANT ALL ON public.marks TO PUBLIC`;

beforeAll(async () => {
  const database = await freshDatabase();
  ({ url } = database);
  theirs = Object.assign(new URL(url), { username: ROLE, password: 'x' }).href;
  await withClient(url, async (client) => {
    await client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'x'`);
    await client.query(`GRANT turnlock_runtime TO ${ROLE}`);
    await client.query(EVIL);
  });
});

afterAll(() =>
  withClient(url, async (client) => void (await client.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`))),
);

/** An agent that calls a tool which acts in the commit, and one that does not. */
function busyAgent() {
  const acts = defineTool({
    name: 'acts',
    description: 'Acts.',
    inputSchema: z.looseObject({}),
    effect: 'transactional',
    execute: async (_params, { transaction }) => {
      await transaction.query('INSERT INTO marks VALUES ($1)', ['done']);
      return 'acted';
    },
  });
  const looks = looseTool('looks', () => ({ at: new Date(0).toISOString(), back: 'a\\b' }));
  return scriptedAgent(eachRun({ toolCalls: [call('acts'), call('looks')] }, 'said \\ "it"'), [acts, looks]);
}

async function sendInTransaction(runtime: Runtime, sessionId: string) {
  const session = await runtime.session({ tenantId: 'tenant', sessionId });
  return await withClient(theirs, async (client) => {
    // What the caller's own transaction does not outlive is the caller's to set.
    await client.query(
      'BEGIN READ WRITE; SET LOCAL statement_timeout TO 0; SET LOCAL idle_in_transaction_session_timeout TO 0',
    );
    const run = await session.send('go \\ on', { transaction: client, messageId: 'm2' });
    await client.query('COMMIT');
    return run;
  });
}

test.each<[string, string]>([
  ['row_security', 'off'],
  ['search_path', 'evil, pg_catalog, turnlock, public'],
  ['search_path', 'pg_temp, evil, pg_catalog, public'],
  ['search_path', "''"],
  ['default_transaction_read_only', 'on'],
  ['statement_timeout', '20'],
  ['lock_timeout', '1'],
  ['idle_in_transaction_session_timeout', '1'],
  ['idle_session_timeout', '300'],
  ['bytea_output', 'escape'],
  ['DateStyle', "'German, DMY'"],
  ['IntervalStyle', 'sql_standard'],
  ['TimeZone', "'Asia/Kathmandu'"],
  ['extra_float_digits', '-15'],
  ['standard_conforming_strings', 'off'],
  ['client_encoding', 'LATIN1'],
  ['transform_null_equals', 'on'],
  ['array_nulls', 'off'],
  ['default_transaction_deferrable', 'on'],
  ['client_min_messages', 'error'],
])('a role with %s = %s: runs, workers and transactions of callers go on as ever', async (setting, value) => {
  await withClient(url, (client) =>
    client.query(
      `ALTER ROLE ${ROLE} RESET ALL; ALTER ROLE ${ROLE} SET ${setting} = ${value}; TRUNCATE public.marks, evil.marks`,
    ),
  );
  const warned: string[] = [];
  const agent = busyAgent();
  const database = { adapter: () => postgres({ connectionString: theirs, max: 2 }, { listen: theirs }) };
  const runtime = await openRuntime(database as RuntimeDatabase, [agent], {
    limits: { leaseMs: 3_000, sweepMs: 100 },
    onWarning: ({ code, message }) => warned.push(`${code}: ${message}`),
  });
  await runtime.start();
  const session = await openSession(runtime, agent, {
    externalId: `${setting}-${value}`,
    metadata: { text: 'a\\b é' },
  });
  const run = await session.send('go é \\ €', { messageId: 'm1' });
  expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'said \\ "it"', error: null });
  const path = setting === 'search_path' && value.includes('evil') ? 'evil' : 'public';
  const marks = await withClient(url, (client) => client.query(`SELECT FROM ${path}.marks`));
  const isLost = value === "''"; // the tool's own table is not in the path either
  expect(marks.rowCount).toBe(isLost ? 0 : 1);
  const later = await sendInTransaction(runtime, session.sessionId);
  expect(await later.result()).toMatchObject({ state: 'IDLE', reply: 'said \\ "it"' });
  const history = await session.history();
  expect(history.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'go é \\ €',
    'go \\ on',
  ]);
  expect(Math.abs(history[0]!.createdAt.getTime() - Date.now())).toBeLessThan(600_000);
  expect(await session.verify()).toMatchObject({ findings: [] });
  if (setting === 'idle_session_timeout') {
    const listens = async () =>
      (
        await withClient(url, (client) =>
          client.query(`SELECT FROM pg_stat_activity WHERE application_name = 'turnlock-listen' AND state = 'idle'
          AND datname = current_database() AND state_change < clock_timestamp() - interval '400 milliseconds'`),
        )
      ).rowCount === 1;
    await waitFor(listens, { for: 'a listener that outlives the time-out' });
  }
  expect(warned.filter((warning) => !warning.startsWith('FSYNC_OFF'))).toEqual([]);
});

test('the migrator of a role whose path is hostile takes the functions of the server', async () => {
  const database = await freshDatabase({ state: 'empty' });
  await withClient(database.url, (client) =>
    client.query(`${EVIL}; ALTER DATABASE "${database.name}" SET search_path = evil, pg_catalog, public;
      ALTER DATABASE "${database.name}" SET standard_conforming_strings = off; ALTER DATABASE "${database.name}" SET statement_timeout = 20`),
  );
  const { createRuntime } = await import('../../index.ts');
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const agent = scriptedAgent('done');
  const runtime = await createRuntime({
    database: postgres(pool),
    agents: [agent],
    migrate: 'auto',
    onWarning: () => undefined,
  });
  const session = await openSession(runtime, agent);
  expect(await (await session.send('go')).result()).toMatchObject({ reply: 'done' });
  const report = await runtime.doctor();
  expect(report.findings.filter(({ code }) => code.startsWith('SCHEMA'))).toEqual([]);
  await runtime.close();
  await pool.end();
});
