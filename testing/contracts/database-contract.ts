import { isTurnlockError } from '../../errors.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { checkSchema, migrate } from '../../persistence/migrate.ts';
import { inTransaction } from '../../persistence/session-transaction.ts';
import { checkOptions } from '../../runtime/check-options.ts';
import { must, shown } from './contract-broken.ts';
import { type ContractCase, contractCases } from './contract-case.ts';
import { ofConnections, ofTheOneConnection } from './database-connections.ts';
import { ofTools } from './database-tools.ts';
import { DatabaseTrial, type DatabaseTrials } from './database-trial.ts';
import { ofValues } from './database-values.ts';
import { PATIENCE_MS, until } from './patience.ts';

/** What {@link databaseContract} takes. */
export interface DatabaseContract {
  /** The kind that the adapter says it is of. It decides which cases there are: a server has several connections, PGlite has one. */
  kind: DatabaseAdapter['kind'];
  /**
   * Makes an adapter, once for each case, on a database that is there for the test alone: the suite migrates it, as a role that may, and
   * leaves rows. All may lead to one database. On a server with connections for three transactions at once.
   */
  make: () => DatabaseAdapter | Promise<DatabaseAdapter>;
  /** Whether workers hear NOTIFY by it. Default: on PGlite. */
  hears?: boolean;
  /** Milliseconds after which what must come soon counts as not coming. Default 10 000. */
  patienceMs?: number;
}

const OPTIONS = ['kind', 'make', 'hears', 'patienceMs'] satisfies (keyof DatabaseContract)[];

/** Where a transaction may lose its connection, in order. */
const POINTS = ['beforeBegin', 'afterStatement', 'beforeCommit', 'commitSent', 'afterCommit'] as const;

/** Transactions at once, of which every fifth is rolled back. */
const AT_ONCE = 20;

/**
 * What a runtime relies on of a database, as cases for any runner of tests: transactions that begin, commit and roll back as they must, what
 * an error says, values as they were, lost connections that are told as such, and the transaction in the hands of a tool. Of a server also
 * that sessions wait for each other's lock; of PGlite, where no two transactions are open at a time, that they take turns.
 *
 * @throws OPTIONS_INVALID for a name that is no option.
 */
export function databaseContract(contract: DatabaseContract): ContractCase[] {
  const { kind, make, patienceMs = PATIENCE_MS } = checkOptions(contract, 'databaseContract', OPTIONS);
  const trials: DatabaseTrials = {
    open: async (work, faultPoint) => DatabaseTrial.open(await make(), work, faultPoint),
    make: async () => make(),
    patienceMs,
  };
  const { hears = kind === 'pglite' } = contract;
  return contractCases('a database', {
    ...ofOpening(trials, kind),
    ...ofTransactions(trials),
    ...ofValues(trials),
    ...ofTools(trials),
    ...(hears ? hearing(trials) : deaf(trials)),
    ...(kind === 'postgres' ? ofConnections(trials) : ofTheOneConnection(trials)),
  });
}

type Promises = Record<string, () => Promise<void>>;

function ofOpening({ open, make }: DatabaseTrials, kind: DatabaseContract['kind']): Promises {
  return {
    'is of the kind that it says': async () => {
      const adapter = await make();
      must(adapter.kind === kind, `an adapter of the kind ${shown(adapter.kind)}`);
      await DatabaseTrial.open(adapter, async ({ database }) => {
        must(database.kind === kind, `a database of the kind ${shown(database.kind)}`);
        must(database.singleConnection === (kind === 'pglite'), `singleConnection: ${database.singleConnection}`);
        must(Array.isArray(await database.reviewSetup()), 'a review that is no list');
      });
    },
    'migrates, and knows when nothing is left to migrate': () =>
      open(async ({ database }) => {
        const { applied, leftToRun } = await migrate(database);
        must(applied.length + leftToRun.length === 0, `${shown(applied)} applied again, ${shown(leftToRun)} left`);
        await checkSchema(database);
      }),
    'closes once, however often it is asked, and connects again': async () => {
      const adapter = await make();
      await DatabaseTrial.open(adapter, async ({ database }) => {
        await database.close();
        await database.close();
      });
      await DatabaseTrial.open(adapter, async (trial) => {
        const [row] = await trial.rows('select 1 as one');
        must(row?.one === 1, `the answer ${shown(row)}`);
      });
    },
  };
}

function ofTransactions({ open }: DatabaseTrials): Promises {
  return {
    'commits what a transaction wrote': () =>
      open(async (trial) => {
        const name = trial.newMark();
        const within = await trial.transaction(async (em) => {
          await trial.mark(em, name);
          return await trial.marks(name, em);
        });
        must(within === 1, `${within} rows within the transaction, of one that was written`);
        const after = await trial.marks(name);
        must(after === 1, `${after} rows after COMMIT, of one that was written`);
      }),
    'leaves nothing of a transaction that is rolled back': () =>
      open(async (trial) => {
        const name = trial.newMark();
        await trial.rolledBack((em) => trial.mark(em, name));
        must((await trial.marks(name)) === 0, 'a row');
      }),
    'refuses to commit after a statement has failed, with the error of that one': () =>
      open(async (trial) => {
        const name = trial.newMark();
        await trial.refusal(async (em) => {
          await trial.mark(em, name);
          await em.execute('select 1 / 0').catch(() => undefined);
        }, '22012');
        must((await trial.marks(name)) === 0, 'a row');
      }),
    'begins as READ COMMITTED READ WRITE, whatever is the default': () =>
      open(async (trial) => {
        const set = (level: string, readOnly: string) =>
          trial.transaction((em) =>
            em.execute(
              `select set_config('default_transaction_isolation', ?, false), set_config('default_transaction_read_only', ?, false)`,
              [level, readOnly],
            ),
          );
        await set('serializable', 'on');
        try {
          const [found] = await trial.transaction((em) =>
            em.execute(
              `select current_setting('transaction_isolation') as level, current_setting('transaction_read_only') as read_only`,
            ),
          );
          must(found?.level === 'read committed' && found.read_only === 'off', shown(found));
        } finally {
          await set('read committed', 'off');
        }
      }),
    'keeps the tenant within the transaction': () =>
      open(async (trial) => {
        const tenant = async (em = trial.em()) => {
          const [row] = await em.execute(`select current_setting('turnlock.tenant', true) as tenant`);
          return row?.tenant;
        };
        const within = await inTransaction(trial.store, { tenantId: 'tenant-1' }, (em) => tenant(em));
        must(within === 'tenant-1', `the tenant ${shown(within)} within the transaction`);
        const after = await tenant();
        must(after !== 'tenant-1', 'the tenant after the transaction');
      }),
    'tells the SQLSTATE of what the database refuses, and the constraint': () =>
      open(async (trial) => {
        await trial.refusal((em) => em.execute('select 1 / 0'), '22012');
        const raise = `do $$ begin raise 'no' using errcode = 'TL099', constraint = 'contract'; end $$`;
        const own = await trial.refusal((em) => em.execute(raise), 'TL099');
        must(own.details.constraint === 'contract', `the constraint ${shown(own.details.constraint)}`);
        const name = trial.newMark();
        const twice = await trial.refusal(async (em) => {
          await trial.mark(em, name);
          await trial.mark(em, name);
        }, '23505');
        must(typeof twice.details.constraint === 'string', 'no name of the unique constraint');
      }),
    'tells a COMMIT that was refused from one of which nobody knows': () =>
      open(async (trial) => {
        const table =
          'create temporary table contract_once (n int unique deferrable initially deferred) on commit drop';
        const refused = await trial.refusal(async (em) => {
          await em.execute(table);
          await em.execute('insert into contract_once values (1), (1)');
        }, '23505');
        must(refused.code !== 'COMMIT_UNKNOWN', 'COMMIT_UNKNOWN');
        const name = trial.newMark();
        await trial.transaction((em) => trial.mark(em, name));
        must((await trial.marks(name)) === 1, 'no row of the next transaction');
      }),
    'takes what a fault point throws for a lost connection, and goes on with the next transaction': async () => {
      let due: string | null = null;
      const faultPoint = (point: string) => {
        if (point === due) throw new Error(`the connection is lost at ${point}`);
      };
      await open(async (trial) => {
        for (const point of POINTS) {
          const [lost, next] = [trial.newMark(), trial.newMark()];
          due = point;
          const thrown = await trial
            .failure((em) => trial.mark(em, lost))
            .finally(() => {
              due = null;
            });
          const mayBeThere = point === 'commitSent' || point === 'afterCommit';
          must(isTurnlockError(thrown, 'COMMIT_UNKNOWN') === mayBeThere, `${shown(thrown)} at ${point}`);
          const rows = await trial.marks(lost);
          must(mayBeThere || rows === 0, `a row of what was lost at ${point}`);
          must(point !== 'afterCommit' || rows === 1, 'no row of what was committed');
          await trial.transaction((em) => trial.mark(em, next));
          must((await trial.marks(next)) === 1, `no row of the transaction after ${point}`);
        }
      }, faultPoint);
    },
    'does many transactions at once, each by itself': () =>
      open(async (trial) => {
        const name = trial.newMark();
        const all = Array.from({ length: AT_ONCE }, async (_, place) => {
          const one = trial.transaction(async (em) => {
            await trial.mark(em, `${name}-${place}`);
            if (place % 5 === 0) throw new Error('the work failed');
          });
          await one.catch(() => undefined);
        });
        await Promise.all(all);
        const found = await trial.marks(name);
        const wanted = AT_ONCE - AT_ONCE / 5;
        must(found === wanted, `${found} rows of ${wanted} that were committed`);
      }),
  };
}

function hearing({ open, patienceMs }: DatabaseTrials): Promises {
  return {
    'hears NOTIFY, until nobody listens any more': () =>
      open(async (trial) => {
        const { wakeUps, schema } = trial.database;
        must(wakeUps !== null, 'wakeUps: null');
        const heard: (string | undefined)[] = [];
        const end = wakeUps.subscribe((sessionId) => heard.push(sessionId));
        const notify = (id: string) => trial.rows('select pg_notify(?, ?)', [schema, id]);
        const isHeard = async () => {
          await notify('session-1'); // again and again: nobody says from when on it is heard
          return heard.includes('session-1');
        };
        try {
          await until(isHeard, { patienceMs, what: 'hint', everyMs: 20 });
        } finally {
          await end();
        }
        await notify('session-2');
        must(!heard.includes('session-2'), 'a hint after the end');
      }),
  };
}

function deaf({ open }: DatabaseTrials): Promises {
  return {
    'says that it hears no NOTIFY': () =>
      open(async ({ database }) => {
        must(database.wakeUps === null, `wakeUps ${shown(database.wakeUps)}`);
      }),
  };
}
