import { defineEntity, MikroORM, p } from '@mikro-orm/postgresql';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgSchema, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { Kysely, PostgresDialect } from 'kysely';
import pg, { type PoolClient } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import type { TransactionalContext } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { bookingAgent, executionOf, makeShop, refundsOf } from './transactional-scene.ts';

const refunds = pgSchema('shop').table('refunds', {
  orderId: text('order_id').notNull(),
  executionId: uuid('execution_id').notNull(),
  at: timestamp('at', { withTimezone: true }).defaultNow(),
});

interface Tables {
  'shop.refunds': { order_id: string; execution_id: string };
}

const Refund = defineEntity({
  name: 'Refund',
  tableName: 'refunds',
  schema: 'shop',
  properties: { refundId: p.integer().primary(), orderId: p.text(), executionId: p.uuid() },
});

type Booking = (order: string, context: TransactionalContext) => Promise<unknown>;

/** The same booking, as each library writes it: twice in nested transactions, of which the second is undone. */
const LIBRARIES: Record<string, Booking> = {
  'node-postgres': async (order, { transaction, executionId }) => {
    await transaction.query('INSERT INTO shop.refunds (order_id, execution_id) VALUES ($1, $2)', [order, executionId]);
    const { rows } = await transaction.query('SELECT order_id AS "orderId" FROM shop.refunds WHERE order_id = $1', [
      order,
    ]);
    return rows;
  },
  Drizzle: async (orderId, { transaction, executionId }) => {
    const db = drizzle(transaction as unknown as PoolClient);
    await db.insert(refunds).values({ orderId, executionId });
    const nested = db.execute(sql`savepoint mine`).then(async () => {
      await db.insert(refunds).values({ orderId, executionId });
      await db.execute(sql`rollback to savepoint mine`);
    });
    await nested;
    const found = await db.select().from(refunds).where(eq(refunds.orderId, orderId));
    return found.map((row) => ({ orderId: row.at instanceof Date ? row.orderId : 'no date' }));
  },
  Kysely: async (order, { transaction, executionId }) => {
    const pool = { connect: async () => transaction, end: async () => undefined };
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: pool as never }),
    });
    await db.insertInto('shop.refunds').values({ order_id: order, execution_id: executionId }).execute();
    return await db.selectFrom('shop.refunds').select('order_id as orderId').where('order_id', '=', order).execute();
  },
  MikroORM: async (orderId, { em, executionId }) => {
    await em.execute('INSERT INTO shop.refunds (order_id, execution_id) VALUES (?, ?)', [orderId, executionId]);
    await em
      .transactional(async (nested) => {
        await nested.execute('INSERT INTO shop.refunds (order_id, execution_id) VALUES (?, ?)', [orderId, executionId]);
        throw new Error('undo');
      })
      .catch(() => undefined);
    return await em.execute('SELECT order_id AS "orderId" FROM shop.refunds WHERE order_id = ?', [orderId]);
  },
};

onPostgres((database) => {
  beforeAll(() => makeShop(database()));

  for (const [library, booking] of Object.entries(LIBRARIES)) {
    test(`${library} writes in the commit's transaction, and nothing is left where the tool throws`, async () => {
      for (const throws of [false, true]) {
        const order = `${library}-${throws}`;
        const agent = bookingAgent(order, async (_, context) => {
          const found = await booking(order, context);
          if (throws) throw new Error('no');
          return found as object;
        });
        const session = await openSession(await openRuntime(database(), [agent]), agent);
        expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
        const { status, output } = await executionOf(database(), session.sessionId);
        expect([status, output]).toEqual(throws ? ['FAILED', null] : ['SUCCESS', [{ orderId: order }]]);
        expect(await refundsOf(database(), order)).toBe(throws ? 0 : 1);
      }
    });
  }

  test('a MikroORM that was handed in has its own entities, which are flushed with the tool; its own commit is refused', async () => {
    const orm = await MikroORM.init({ clientUrl: database().url, entities: [Refund], pool: { max: 3 } });
    atTestEnd(() => orm.close());
    const agent = bookingAgent('orm', async ({ order }, { em, executionId }) => {
      em.create(Refund, { refundId: 1_000_000, orderId: order, executionId });
      return await em.commit().then(
        () => 'committed',
        (error: { code?: string }) => error.code,
      );
    });
    await database().query('ALTER TABLE shop.refunds ALTER refund_id SET GENERATED BY DEFAULT');
    const runtime = await openRuntime(database(), [agent], { adapter: postgres(orm) });
    const session = await openSession(runtime, agent);
    const result = await (await session.send('go')).result();
    await runtime.close();
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(await executionOf(database(), session.sessionId)).toMatchObject({
      status: 'SUCCESS',
      output: 'TRANSACTION_CONTROL',
    });
    expect(await refundsOf(database(), 'orm')).toBe(1);
  });

  test.each([
    [`SELECT set_config('statement_timeout', '1ms', false)`, true],
    [`SELECT pg_advisory_lock(42)`, true],
    [`CREATE TEMPORARY TABLE left_behind (id int)`, true],
    [`SELECT set_config('app.tenant', 'a', true)`, false],
    [`SELECT pg_advisory_xact_lock(42)`, false],
  ])('%s: its connection is used again unless it would keep something of it', async (statement, isDropped) => {
    const pool = new pg.Pool({ connectionString: database().url, max: 1 });
    atTestEnd(() => pool.end());
    const backend = async () => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid as number;
    let during = 0;
    const agent = bookingAgent('left', async (_, { transaction }) => {
      during = (await transaction.query('SELECT pg_backend_pid() AS pid')).rows[0]!.pid as number;
      await transaction.query(statement);
    });
    const runtime = await openRuntime(database(), [agent], { adapter: postgres(pool) });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect((await backend()) === during).toBe(!isDropped);
  });
});
