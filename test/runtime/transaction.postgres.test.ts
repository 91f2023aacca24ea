import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgresJs from 'postgres';
import { describe, expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { type CallerTransaction, createRuntime, type Run, type Runtime } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eventsOf, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';

const ids = { tenantId: 'tenant', userId: 'user' };

/** The text of a template with its parameters numbered. */
function numbered(strings: TemplateStringsArray): string {
  return strings.reduce((text, part, index) => `${text}$${index}${part}`);
}

onPostgres((database) => {
  /** A client of the caller's, in a transaction. */
  async function begin(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database().url });
    await client.connect();
    atTestEnd(() => client.end());
    await client.query('BEGIN');
    return client;
  }

  /** The ways in which a caller has a transaction. */
  const forms: [string, (client: pg.Client, runtime: Runtime) => Promise<CallerTransaction> | CallerTransaction][] = [
    ['a client of node-postgres', (client) => client],
    ['an object whose query answers with rows', (client) => ({ query: (text, values) => client.query(text, values) })],
    [
      'an object whose query answers with an array',
      (client) => ({ query: async (text, values) => (await client.query(text, values)).rows }),
    ],
    [
      'a tag of template literals',
      (client) => ({ sql: (strings, ...values) => client.query(numbered(strings), values) }),
    ],
  ];

  describe.each(forms)('%s', (_, wrap) => {
    test('a message is there once the transaction commits, and its run begins then', async () => {
      const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const client = await begin();
      const run = await session.send('hello', {
        transaction: await wrap(client, runtime),
        messageId: 'm1',
        metadata: { a: 1 },
      });
      expect(run).toMatchObject({ repeated: false, sessionId: session.sessionId });
      expect(await runtime.recover()).toEqual([]);
      expect((await session.status()).version).toBe(0);
      await client.query('COMMIT');
      expect(await run.result()).toMatchObject({ runId: run.runId, state: 'IDLE', reply: 'heard hello' });
      expect((await session.history())[0]).toMatchObject({ content: 'hello', metadata: { a: 1 } });
      expect((await session.transitions()).map(({ type }) => type)).toEqual(['user.messaged', 'model.replied']);
    });

    test('a message whose transaction is rolled back was never sent', async () => {
      const agent = scriptedAgent('done');
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const client = await begin();
      const run = await session.send('hello', { transaction: await wrap(client, runtime) });
      await client.query('ROLLBACK');
      await expect(run.result()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
      expect(await runtime.recover()).toEqual([]);
      expect(await session.history()).toEqual([]);
    });

    test('a session and its first message are one with what else the transaction writes', async () => {
      const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
      const runtime = await openRuntime(database(), [agent]);
      const client = await begin();
      const transaction = await wrap(client, runtime);
      const externalId = `order-${randomUUID()}`;
      const metadata = { odd: 'a\u0000b' };
      const made = await runtime.createSession({ agent: agent.name, ...ids, externalId, metadata, transaction });
      const run = await made.send('hello', { transaction });
      await expect(runtime.session({ tenantId: 'tenant', externalId })).rejects.toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
      await client.query('COMMIT');
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'heard hello' });
      const found = await runtime.session({ tenantId: 'tenant', externalId });
      expect(found.sessionId).toBe(made.sessionId);
      expect(await made.status()).toMatchObject({ externalId, metadata: { odd: 'a\uFFFDb' }, agent: agent.name });
      const [row] = await database().query('SELECT normalised FROM turnlock.agent_sessions WHERE session_id = $1', [
        made.sessionId,
      ]);
      expect(row.normalised).toEqual(['/metadata/odd']);
    });
  });

  test('a result that is asked for before COMMIT is not there, and is once it is asked for again; so are the events', async () => {
    const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const client = await begin();
    const made = await runtime.createSession({ agent: agent.name, ...ids, transaction: client });
    const runs = [
      await session.send('hello', { transaction: client }),
      await made.send('first', { transaction: client }),
    ];
    for (const run of runs) {
      const early = { code: run.sessionId === made.sessionId ? 'SESSION_NOT_FOUND' : 'RUN_NOT_FOUND' };
      await expect(run.result()).rejects.toMatchObject(early);
      expect(await eventsOf(run)).toEqual([]);
      await expect(run.result()).rejects.toMatchObject(early);
    }
    await client.query('COMMIT');
    for (const [run, reply] of [
      [runs[0]!, 'heard hello'],
      [runs[1]!, 'heard first'],
    ] as const) {
      const events = eventsOf(run);
      expect(await run.result()).toMatchObject({ runId: run.runId, state: 'IDLE', reply });
      expect(await run.result()).toMatchObject({ reply });
      const types = (await events).flatMap((event) => (event.type === 'transition' ? [event.event.type] : []));
      expect(types).toEqual(['user.messaged', 'model.replied']);
    }
  });

  test('a session of a rolled back transaction is not there, and its handle says so', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const client = await begin();
    const made = await runtime.createSession({ agent: agent.name, ...ids, transaction: client });
    const run = await made.send('hello', { transaction: client });
    await client.query('ROLLBACK');
    await expect(run.result()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(made.status()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(made.send('again')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('an external id that is known gives the session of then, in a transaction too', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const externalId = `order-${randomUUID()}`;
    const first = await openSession(runtime, agent, { externalId });
    const client = await begin();
    const again = await runtime.createSession({ agent: agent.name, ...ids, externalId, transaction: client });
    expect(again.sessionId).toBe(first.sessionId);
    const refused = runtime.createSession({
      agent: agent.name,
      ...ids,
      userId: 'other',
      externalId,
      transaction: client,
    });
    await expect(refused).rejects.toMatchObject({ code: 'EXTERNAL_ID_CONFLICT' });
  });

  test('a message id that the session has seen: the run of then, whatever the transaction inserted', async () => {
    const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const first = await (await session.send('hello', { messageId: 'm1' })).result();
    for (const repeated of [false, true]) {
      const client = await begin();
      const run = await session.send('hello', { messageId: 'm1', transaction: client });
      expect(run.repeated).toBe(repeated);
      await client.query('COMMIT');
      expect(await run.result()).toEqual(first);
    }
    expect(await session.history()).toHaveLength(2);
  });

  test('nobody waits for the transaction: the session commits while it is open, and takes the message after it', async () => {
    const { opened, open } = gate();
    const agent = scriptedAgent(
      ({ turns }) => {
        const last = turns.at(-1)!;
        return last.role === 'user' && last.text === 'wait' ? { toolCalls: [call('slow')] } : `heard ${last.text}`;
      },
      [looseTool('slow', () => opened)],
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const client = await begin();
    const later = await session.send('later', { transaction: client });
    const run = await session.send('wait');
    open('x' as never);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'heard x' });
    await client.query('COMMIT');
    expect(await later.result()).toMatchObject({ state: 'IDLE', reply: 'heard later' });
  });

  test('a message that commits after the session was completed is answered on its row', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const client = await begin();
    const run = await session.send('hello', { transaction: client });
    await session.complete();
    await client.query('COMMIT');
    expect(await runtime.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'COMPLETED' }]);
    expect(await run.result()).toMatchObject({ state: 'COMPLETED', error: { code: 'SESSION_COMPLETED' } });
    expect((await session.transitions()).map(({ type }) => type)).toEqual(['session.completed']);
    const refused = session.send('x', { transaction: await begin() });
    await expect(refused).rejects.toMatchObject({ code: 'SESSION_COMPLETED' });
  });

  test('C59 a pool of one, which the caller has too: send in its transaction takes no second connection', async () => {
    const pool = new pg.Pool({ connectionString: database().url, max: 1 });
    atTestEnd(() => pool.end());
    const agent = scriptedAgent('done');
    const runtime = await createRuntime({ database: postgres(pool), agents: [agent], onWarning: () => undefined });
    atTestEnd(() => runtime.close());
    const session = await runtime.createSession({ agent: agent.name, ...ids });
    const client = await pool.connect();
    await client.query('BEGIN');
    const transaction = { query: (text: string, values: unknown[]) => client.query(text, values) };
    const other = await runtime.createSession({ agent: agent.name, ...ids, transaction });
    const runs = [await session.send('one', { transaction }), await other.send('two', { transaction })];
    await client.query('COMMIT');
    client.release();
    for (const run of runs) expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
  });

  test('an EntityManager of MikroORM in a transaction; outside of one it is refused', async () => {
    const { MikroORM } = await import('@mikro-orm/postgresql');
    const orm = await MikroORM.init({
      clientUrl: database().url,
      entities: [],
      discovery: { warnWhenNoEntities: false },
    });
    atTestEnd(() => orm.close());
    const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const text = `it's ? and $1 and "quoted"`;
    const run = await orm.em.transactional((em) => session.send(text, { transaction: em }));
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: `heard ${text}` });
    await expect(session.send('x', { transaction: orm.em })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const fail = orm.em.transactional(async (em) => {
      await session.send('never', { transaction: em });
      throw new Error('the service changed its mind');
    });
    await expect(fail).rejects.toThrow('changed its mind');
    await waitFor(async () => (await runtime.recover()).length === 0, { for: 'nothing to be owed' });
    expect((await session.history()).map(({ content }) => content)).toEqual([text, `heard ${text}`]);
  });

  test.each<[string, (rows: unknown[]) => unknown]>([
    ['no rows', () => ({ rows: [] })],
    ['rows with columns of other names', (rows) => rows.map((row) => ({ identity: (row as { id: string }).id }))],
    ['nothing', () => undefined],
    ['an object', () => ({ rowCount: 1 })],
    ['two rows', (rows) => [...rows, ...rows]],
  ])('a query that answers with %s is refused, and nothing is guessed', async (_, change) => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const client = await begin();
    const transaction = {
      query: async (text: string, values: unknown[]) => change((await client.query(text, values)).rows) as unknown[],
    };
    await expect(session.send('x', { transaction })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const creation = runtime.createSession({ agent: agent.name, ...ids, transaction });
    await expect(creation).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  type Act = (transaction: CallerTransaction) => Promise<void>;
  /** How transactions of others are wrapped. */
  const wrapped: [string, (pool: pg.Pool, act: Act) => Promise<void>][] = [
    [
      'Drizzle',
      (pool, act) =>
        drizzle(pool).transaction((tx) => act({ sql: (strings, ...values) => tx.execute(sql(strings, ...values)) })),
    ],
    [
      'Kysely',
      (pool, act) =>
        new Kysely({ dialect: new PostgresDialect({ pool }) })
          .transaction()
          .execute((trx) => act({ query: (text, values) => trx.executeQuery(CompiledQuery.raw(text, values)) })),
    ],
    [
      'postgres.js',
      async (_, act) => {
        const db = postgresJs(database().url, { max: 1 });
        await db.begin((tx) => act({ sql: tx })).finally(() => db.end());
      },
    ],
  ];

  test.each(wrapped)('a transaction of %s: committed, rolled back, and refused by name', async (_, transact) => {
    const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const pool = new pg.Pool({ connectionString: database().url, max: 1 });
    atTestEnd(() => pool.end());
    const text = `it's ? and $1 and "quoted"`;
    let run: Run | undefined;
    await transact(pool, async (transaction) => {
      run = await session.send(text, { transaction, messageId: 'm1', metadata: { a: [1] } });
    });
    expect(await run?.result()).toMatchObject({ state: 'IDLE', reply: `heard ${text}` });
    expect((await session.history())[0]).toMatchObject({ content: text, metadata: { a: [1] } });
    const fail = transact(pool, async (transaction) => {
      await runtime.createSession({
        agent: agent.name,
        ...ids,
        externalId: 'never',
        metadata: { a: [1] },
        transaction,
      });
      await session.send('never', { transaction });
      throw new Error('the service changed its mind');
    });
    await expect(fail).rejects.toThrow('changed its mind');
    const refused = transact(pool, async (transaction) => {
      await session.send('one text', { transaction, messageId: 'm2' });
      await session.send('another text', { transaction, messageId: 'm2' });
    });
    await expect(refused).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    const never = runtime.session({ tenantId: ids.tenantId, externalId: 'never' });
    await expect(never).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await session.history()).map(({ content }) => content)).toEqual([text, `heard ${text}`]);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'BEGIN'],
    ['an object without query', {}],
    ['a pool', new pg.Pool()],
  ])('%s is no transaction', async (_, transaction) => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const given = { transaction: transaction as CallerTransaction };
    await expect(session.send('x', given)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const creation = runtime.createSession({ agent: agent.name, ...ids, ...given });
    await expect(creation).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test('a transaction in which a statement failed before is told as such: it is no fault to report', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const client = await begin();
    await expect(client.query('SELECT 1 / 0')).rejects.toThrow();
    await expect(session.send('x', { transaction: client })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      hint: expect.stringContaining('roll it back'),
      details: { sqlState: '25P02' },
    });
  });

  test('the session that the page on embedding makes in SQL takes messages like any other', async () => {
    const page = await readFile('docs/embedding.md', 'utf8');
    const example = /```sql\n(SELECT created_session_id FROM turnlock\.create_session.*?);\n```/s.exec(page)![1]!;
    const agent = scriptedAgent('done', [], 'support');
    const runtime = await openRuntime(database(), [agent]);
    const [{ created_session_id: sessionId }] = await database().query(example);
    const session = await runtime.session({ tenantId: 'acme', externalId: 'mail-7' });
    expect(session.sessionId).toBe(sessionId);
    expect(await (await session.send('hello')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
  });

  test('a rule that an argument broke is named', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const call = (text: string, values: unknown[]) => database().query(text, values);
    const enqueued = call(`SELECT turnlock.enqueue('tenant', $1, NULL, 'x', 'now')`, [session.sessionId]);
    await expect(enqueued).rejects.toThrow('enqueue: when_busy must be enqueue, reject, interrupt or supersede');
    const created = call(`SELECT turnlock.create_session('tenant', 'user', $1, 1, 'model', 'flow', 1, '{}')`, [
      'agent',
    ]);
    await expect(created).rejects.toThrow('create_session: machine_id must be session');
  });

  test('a role without the rights of the client is told which are missing', async () => {
    const role = `guest_${randomUUID().slice(0, 8)}`;
    await database().query(`CREATE ROLE ${role}`);
    atTestEnd(async () => void (await database().query(`DROP ROLE ${role}`)));
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const client = await begin();
    await client.query(`SET LOCAL ROLE ${role}`);
    await expect(session.send('x', { transaction: client })).rejects.toMatchObject({ code: 'PRIVILEGE_MISSING' });
  });
});
