import { expect, test } from 'vitest';
import { loadPglite } from '../../../adapters/databases/open-pglite.ts';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { PgliteSource } from '../../../adapters/databases/pglite-source.ts';
import { PgliteWire } from '../../../adapters/databases/pglite-wire.ts';
import type { Wire } from '../../../adapters/databases/wire.contract.ts';
import { systemEnvironment } from '../../../environment.ts';
import type { Database, DatabaseAdapter, ToolTransaction } from '../../../persistence/database.contract.ts';
import { databaseContract } from '../../../testing/contracts/database-contract.ts';
import { freshPglite } from '../../support/pglite.ts';
import { eachCaseCanFail } from './broken-cases.ts';
import { overDatabase, overWire, sending, type WireChange } from './broken-database.ts';

const instance = await freshPglite();
const { protocol } = await loadPglite();
const sound = pglite({ instance });

const suite = (adapter: DatabaseAdapter, more = {}) =>
  databaseContract({ kind: 'pglite', make: () => adapter, ...more });

function wire(change: WireChange) {
  const open = async () => new PgliteSource(instance, protocol, async () => undefined);
  return () => suite(overWire(sound, open, change));
}

function database(change: (database: Database) => Partial<Database>, more = {}) {
  return () => suite(overDatabase(sound, change), more);
}

/** One whose tools have another transaction. */
function tool(change: (tool: ToolTransaction) => Partial<ToolTransaction>) {
  return database((own) => ({
    toolTransaction: async (em) => {
      const transaction = await own.toolTransaction(em);
      return Object.create(transaction, Object.getOwnPropertyDescriptors(change(transaction)));
    },
  }));
}

/** One that lends its connection to several at a time. */
function shared() {
  const lend = async () => ({
    borrow: async () => ({ wire: new PgliteWire(instance, protocol), giveBack: () => undefined }),
    close: async () => undefined,
  });
  return suite(overWire(sound, lend, () => ({})));
}

/** Errors of which nobody knows what they were. */
const nameless =
  (send: Wire['send']): Wire['send'] =>
  (sql, values) =>
    send(sql, values).catch(() => {
      throw new Error('it did not work');
    });

const titles = [...suite(sound), ...suite(sound, { hears: false })].map(({ title }) => title);

eachCaseCanFail([...new Set(titles)], {
  'is of the kind that it says': () => suite({ ...sound, kind: 'postgres' }),
  'migrates, and knows when nothing is left to migrate': database(({ migrations }) => ({
    migrations: { ...migrations, migrations: [...migrations.migrations, { name: 'of-a-later-build', statements: [] }] },
  })),
  'closes once, however often it is asked, and connects again': database(({ close }) => {
    let isClosed = false;
    return {
      close: async () => {
        if (isClosed) throw new Error('it is closed');
        isClosed = true;
        await close();
      },
    };
  }),
  'commits what a transaction wrote': wire(({ send }) => ({
    send: async (sql, values) =>
      sql === 'commit' ? { ...(await send('rollback')), command: 'COMMIT' } : await send(sql, values),
  })),
  'leaves nothing of a transaction that is rolled back': wire(sending((sql) => (sql === 'rollback' ? 'commit' : sql))),
  'refuses to commit after a statement has failed, with the error of that one': wire(({ send }) => ({
    send: async (sql, values) => {
      const answer = await send(sql, values);
      return sql === 'commit' ? { ...answer, command: 'COMMIT' } : answer;
    },
  })),
  'begins as READ COMMITTED READ WRITE, whatever is the default': wire(
    sending((sql) => sql.replace('begin isolation level read committed read write', 'begin read write')),
  ),
  'keeps the tenant within the transaction': wire(({ send }) => ({
    send: async (sql, values) => {
      const answer = await send(sql, values);
      if (sql === 'commit') await send(`set turnlock.tenant = 'tenant-1'`);
      return answer;
    },
  })),
  'tells the SQLSTATE of what the database refuses, and the constraint': wire(({ send }) => ({ send: nameless(send) })),
  'tells a COMMIT that was refused from one of which nobody knows': wire(({ send }) => ({
    send: (sql, values) => (sql === 'commit' ? nameless(send) : send)(sql, values),
  })),
  'takes what a fault point throws for a lost connection, and goes on with the next transaction': () =>
    suite({ ...sound, connect: (options) => sound.connect({ ...options, environment: systemEnvironment }) }),
  'does many transactions at once, each by itself': shared,
  'reads values of every type alike': wire(({ send }) => ({
    send: async (sql, values) => {
      const { rows, ...answer } = await send(sql, values);
      return { ...answer, rows: rows.map((row) => ('int8' in row ? { ...row, int8: Number(row.int8) } : row)) };
    },
  })),
  'takes texts and JSON to the letter, whatever stands in them': wire(
    sending((sql) => (sql.includes('::jsonb as json') ? sql.replaceAll('?', '') : sql)),
  ),
  'keeps times to the millisecond, by the unit of work': wire(
    sending((sql) => sql.replaceAll(/(:\d\d)\.\d{3}/g, '$1')),
  ),
  'gives a tool the transaction that is open, in the form of node-postgres': tool(({ query }) => ({
    query: async (given) => ({ ...(await query(given)), rowCount: null }),
  })),
  'lets no tool end the transaction': tool(({ query }) => ({
    query: (given) => query({ ...given, text: given.text === 'commit' ? 'select 1' : given.text }),
  })),
  'takes no statement of a tool that has returned': tool(() => ({ close: async () => undefined })),
  'tells the first error of a tool’s statements': tool(() => ({ firstError: undefined })),
  'hears NOTIFY, until nobody listens any more': () =>
    suite(
      overDatabase(sound, () => ({ wakeUps: { subscribe: () => async () => undefined } })),
      { patienceMs: 20 },
    ),
  'says that it hears no NOTIFY': () => suite(sound, { hears: false }),
  'lets a transaction wait until the one before it has ended': shared,
});

test('a name that is no option is refused', () => {
  expect(() => suite(sound, { listens: true })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
});
