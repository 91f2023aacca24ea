import { CompiledQuery } from 'kysely';
import { describe, expect, test } from 'vitest';
import { TransactionConnection } from '../../../adapters/databases/transaction-connection.ts';
import { type FaultInfo, type FaultPoint, systemEnvironment } from '../../../environment.ts';
import { databaseError, type FakeWire, fakeWire, type Rule } from './fake-wire.ts';

type FaultHandler = (point: FaultPoint, info: FaultInfo) => void | Promise<void>;

/** A connection on which a transaction has written one row. */
async function inTransaction(rule?: Rule, faultPoint: FaultHandler = () => {}) {
  const wire = fakeWire(rule);
  const connection = new TransactionConnection(wire, { ...systemEnvironment, faultPoint });
  await connection.begin();
  await connection.executeQuery(CompiledQuery.raw("insert into t values ('secret')"));
  return { connection, wire };
}

/** How the connection was given back after the caller did what MikroORM does: commit, and roll back when that throws. */
async function commitAndRelease(connection: TransactionConnection, wire: FakeWire) {
  const error = await connection.commit().then(
    () => undefined,
    async (reason) => {
      await connection.rollback();
      return reason;
    },
  );
  connection.release();
  return { error, givenBack: wire.givenBack };
}

describe('BEGIN', () => {
  test('travels with the first statement, names the isolation level, and is not repeated', async () => {
    const { connection, wire } = await inTransaction();
    await connection.executeQuery(CompiledQuery.raw('select 2'));
    expect(wire.sent).toHaveLength(2);
    expect(wire.sent[0]).toMatch(/^begin isolation level read committed read write; .*; insert into t values/);
    expect(wire.sent[1]).toBe('select 2');
  });

  test('goes alone before a statement with parameters, which takes no company', async () => {
    const wire = fakeWire();
    const connection = new TransactionConnection(wire, systemEnvironment);
    await connection.begin();
    await connection.executeQuery(CompiledQuery.raw('select $1', ['x']));
    expect(wire.sent).toEqual([expect.stringMatching(/^begin [^$]+$/), 'select $1']);
  });

  test('is never sent by a transaction without a statement', async () => {
    const wire = fakeWire();
    for (const end of ['commit', 'rollback'] as const) {
      const connection = new TransactionConnection(wire, systemEnvironment);
      await connection.begin();
      await connection[end]();
      connection.release();
    }
    expect(wire.sent).toEqual([]);
    expect(wire.givenBack).toEqual([{ isBroken: false }, { isBroken: false }]);
  });
});

describe('COMMIT', () => {
  test('whose tag says COMMIT is believed', async () => {
    const { connection, wire } = await inTransaction();
    expect(await commitAndRelease(connection, wire)).toEqual({ error: undefined, givenBack: [{ isBroken: false }] });
  });

  test('whose tag says ROLLBACK is a definite abort, with the error of the statement that caused it', async () => {
    const failure = databaseError('40001');
    const { connection, wire } = await inTransaction((sql) => {
      if (sql === 'commit') return { command: 'ROLLBACK' };
      return sql === 'select 1/0' ? failure : undefined;
    });
    await expect(connection.executeQuery(CompiledQuery.raw('select 1/0'))).rejects.toBe(failure);
    expect(await commitAndRelease(connection, wire)).toEqual({ error: failure, givenBack: [{ isBroken: false }] });
  });

  test('whose tag says ROLLBACK without any failed statement is DATABASE_FAILED', async () => {
    const { connection, wire } = await inTransaction((sql) => (sql === 'commit' ? { command: 'ROLLBACK' } : undefined));
    expect((await commitAndRelease(connection, wire)).error).toMatchObject({ code: 'DATABASE_FAILED' });
  });

  test('after a warning is unknown: the standby may not have it', async () => {
    const { connection, wire } = await inTransaction((sql) => (sql === 'commit' ? { warned: true } : undefined));
    const { error, givenBack } = await commitAndRelease(connection, wire);
    expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' });
    expect(givenBack).toEqual([{ isBroken: true }]);
  });

  test.each([
    ['a refusal of a deferred trigger', databaseError('TL001'), false],
    ['a unique violation that was deferred', databaseError('23505'), false],
    ['a cancelled deferred check', databaseError('57014'), false],
    ['a connection exception', databaseError('08006'), true],
    ['the end of the session', databaseError('57P01', 'FATAL'), true],
    ['any error that ends the server', databaseError('XX000', 'PANIC'), true],
    ['a state that says so', databaseError('40003'), true],
    ['a lost connection', new Error('Connection terminated unexpectedly'), true],
    ['a network error, whose code only looks like a SQLSTATE', Object.assign(new Error('x'), { code: 'EPIPE' }), true],
  ])('answered by %s', async (_what, failure, isUnknown) => {
    const { connection, wire } = await inTransaction((sql) => (sql === 'commit' ? failure : undefined));
    const { error, givenBack } = await commitAndRelease(connection, wire);
    if (isUnknown) expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN', cause: failure });
    else expect(error).toBe(failure);
    expect(givenBack).toEqual([{ isBroken: isUnknown }]);
    expect(wire.sent.at(-1)).toBe('commit'); // it is not rolled back over and over
  });
});

describe('a broken connection', () => {
  test('is given back as such after a statement without an answer, and is not rolled back', async () => {
    const { connection, wire } = await inTransaction((sql) =>
      sql === 'select 2' ? new Error('Connection terminated unexpectedly') : undefined,
    );
    await expect(connection.executeQuery(CompiledQuery.raw('select 2'))).rejects.toThrow('terminated');
    await connection.rollback();
    connection.release();
    expect(wire.sent.at(-1)).toBe('select 2');
    expect(wire.givenBack).toEqual([{ isBroken: true }]);
  });

  test('is one that is released with its transaction open', async () => {
    const { connection, wire } = await inTransaction();
    connection.release();
    connection.release();
    expect(wire.givenBack).toEqual([{ isBroken: true }]);
  });

  test('is one that cannot be rolled back, and rolling back does not fail', async () => {
    const { connection, wire } = await inTransaction((sql) => (sql === 'rollback' ? new Error('gone') : undefined));
    await connection.rollback();
    connection.release();
    expect(wire.givenBack).toEqual([{ isBroken: true }]);
  });
});

describe('fault points', () => {
  test('come in order, and tell statements without their literals', async () => {
    const passed: [FaultPoint, string?][] = [];
    const { connection } = await inTransaction(
      undefined,
      (point, { statement }) => void passed.push([point, statement]),
    );
    await connection.commit();
    expect(passed).toEqual([
      ['beforeBegin', 'begin'],
      ['afterStatement', 'insert into t values (?)'],
      ['beforeCommit', 'commit'],
      ['commitSent', 'commit'],
      ['afterCommit', 'commit'],
    ]);
  });

  test('after each statement and before COMMIT, what is thrown is what happens, and nothing is committed', async () => {
    for (const faulty of ['afterStatement', 'beforeCommit'] as const) {
      const wire = fakeWire();
      const faultPoint: FaultHandler = (point) => {
        if (point === faulty) throw new Error('fault');
      };
      const connection = new TransactionConnection(wire, { ...systemEnvironment, faultPoint });
      await connection.begin();
      const work = connection.executeQuery(CompiledQuery.raw('select 1')).then(() => connection.commit());
      await expect(work).rejects.toThrow('fault');
      await connection.rollback();
      connection.release();
      expect(wire.sent).not.toContain('commit');
      expect(wire.givenBack).toEqual([{ isBroken: true }]);
    }
  });

  test('once COMMIT is sent, what is thrown leaves the commit unknown', async () => {
    for (const faulty of ['commitSent', 'afterCommit'] as const) {
      const { connection, wire } = await inTransaction(undefined, (point) => {
        if (point === faulty) throw new Error('fault');
      });
      const { error, givenBack } = await commitAndRelease(connection, wire);
      expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' });
      expect(wire.sent).toContain('commit');
      expect(givenBack).toEqual([{ isBroken: true }]);
    }
  });

  test('commitSent stands between sending and looking at the answer', async () => {
    const order: string[] = [];
    const { connection } = await inTransaction(
      (sql) => {
        if (sql === 'commit') order.push('sent');
        return undefined;
      },
      (point) => {
        if (point === 'commitSent') order.push('stalled');
      },
    );
    await connection.commit().then(() => order.push('answered'));
    expect(order).toEqual(['sent', 'stalled', 'answered']);
  });
});
