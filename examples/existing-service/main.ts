import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MikroORM } from '@mikro-orm/postgresql';
import { Pool } from 'pg';
import { createRuntime, isTurnlockError, type Runtime } from 'turnlock';
import { postgres } from 'turnlock/postgres';
import { complaintsAgent } from './agent.ts';
import { type OpenComplaint, TENANT } from './complaint.ts';
import { openServer } from './server.ts';
import { shopConfig } from './shop.orm.ts';
import { withDrizzle } from './with-drizzle.ts';
import { withKysely } from './with-kysely.ts';
import { withMikroOrm } from './with-mikro-orm.ts';
import { withNodePostgres } from './with-node-postgres.ts';

/** Plays each form on a database at `url` and prints what happened. @throws AssertionError when something is not as it should be. */
async function play(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined); // a connection that is lost while nobody uses it would end the process
  const orm = await MikroORM.init(shopConfig(url));
  const runtime = await createRuntime({
    database: postgres(pool),
    agents: [complaintsAgent(pool)],
    migrate: 'auto', // a service's pipeline runs `turnlock migrate`
    onWarning: ({ code, message }) => code === 'RLS_BYPASSED' || console.error(message), // the role here owns everything
  });
  try {
    await orm.migrator.up();
    await checkMigrations(orm);
    await runtime.start();
    const forms: Record<string, OpenComplaint> = {
      'node-postgres': withNodePostgres(pool, runtime),
      MikroORM: withMikroOrm(orm, runtime),
      Drizzle: withDrizzle(pool, runtime),
      Kysely: withKysely(pool, runtime),
    };
    for (const [form, open] of Object.entries(forms)) {
      console.log(`\n${form}`);
      await checkCommit(runtime, pool, open);
      await checkRollback(runtime, pool, open);
    }
    await checkForeignKey(pool);
  } finally {
    await runtime.close();
    await orm.close();
    await pool.end();
  }
}

async function checkMigrations(orm: MikroORM): Promise<void> {
  const executed = (await orm.migrator.getExecuted()).map(({ name }) => name);
  assert.deepEqual(executed, ['orders', 'complaints']);
  const ours = await orm.em.fork().execute('select name from turnlock.migrations where name in (?)', [executed]);
  assert.deepEqual(ours, []);
  console.log(`shop.migrations: ${executed.join(', ')}; turnlock.migrations knows none of them`);
  assert.equal(await orm.schema.getUpdateSchemaSQL(), '');
  console.log('MikroORM of the service would change nothing, in shop and in turnlock');
}

async function checkCommit(runtime: Runtime, pool: Pool, open: OpenComplaint): Promise<void> {
  const complaintId = randomUUID();
  const run = await open({ complaintId, orderId: '42', customer: 'ana', text: `It's dark.` });
  const { state, reply } = await run.result();
  assert.deepEqual({ state, reply }, { state: 'IDLE', reply: 'I am sorry about the lamp.' }); // it saw the committed row
  const session = await runtime.session({ tenantId: TENANT, externalId: complaintId });
  const history = (await session.history()).map(({ role, content }) => `${role}: ${content}`);
  assert.deepEqual([history[0], history.at(-1)], [`user: It's dark.`, `assistant: ${reply}`]);
  assert.deepEqual(await sessionsOf(pool, complaintId), [session.sessionId]);
  console.log(`  committed: complaint, session and message are there; the run began after it: ${reply}`);
}

async function checkRollback(runtime: Runtime, pool: Pool, open: OpenComplaint): Promise<void> {
  const complaintId = randomUUID();
  const opened = open({ complaintId, orderId: 'unknown', customer: 'ana', text: 'Where is it?' });
  await assert.rejects(opened, (error) => constraintOf(error) === 'complaint_order');
  const found = runtime.session({ tenantId: TENANT, externalId: complaintId });
  await assert.rejects(found, (error) => isTurnlockError(error, 'SESSION_NOT_FOUND'));
  assert.deepEqual(await sessionsOf(pool, complaintId), []);
  console.log('  rolled back: no complaint, no session, and nothing was sent');
}

async function checkForeignKey(pool: Pool): Promise<void> {
  const insert = pool.query(`insert into shop.complaints values ($1, '42', $2, $1)`, [randomUUID(), TENANT]);
  await assert.rejects(insert, (error) => constraintOf(error) === 'complaint_session');
  console.log('\na complaint without a session is refused by the foreign key');
}

async function sessionsOf(pool: Pool, complaintId: string): Promise<string[]> {
  const { rows } = await pool.query('select session_id from shop.complaints where complaint_id = $1', [complaintId]);
  return rows.map(({ session_id }) => session_id);
}

/** The constraint that refused a statement. Drizzle and MikroORM put their own error around the driver's. */
function constraintOf(error: unknown): string | undefined {
  const { constraint, cause } = error as { constraint?: string; cause?: unknown };
  return constraint ?? (cause === undefined ? undefined : constraintOf(cause));
}

const server = await openServer();
const failure = await play(server.url).then(
  () => null,
  (error: unknown) => ({ error }),
);
await server.stop();
if (failure !== null) console.error(failure.error);
process.exit(failure === null ? 0 : 1); // said outright: the embedded server's package ends a process with 0
