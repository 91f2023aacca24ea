import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { isTurnlockError } from '../../errors.ts';
import { inTransaction } from '../../persistence/session-transaction.ts';
import { must, shown } from './contract-broken.ts';
import { DatabaseTrial, type DatabaseTrials } from './database-trial.ts';
import { until } from './patience.ts';

const WAITING = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`;

/** What may go on at the same time, on a server. */
export function ofConnections({ open, make, patienceMs }: DatabaseTrials): Record<string, () => Promise<void>> {
  return {
    'connects a second time meanwhile, to the same database': async () => {
      const adapter = await make();
      await DatabaseTrial.open(adapter, (one) =>
        DatabaseTrial.open(adapter, async (other) => {
          const name = one.newMark();
          await one.transaction((em) => one.mark(em, name));
          must((await other.marks(name)) === 1, 'no row of what the other one committed');
        }),
      );
    },
    'lets a session’s second transaction wait for its lock, and read what the first one wrote': () =>
      open(async (trial) => {
        const name = trial.newMark();
        const scope = { tenantId: 'tenant-1', lockedSessionId: randomUUID() };
        const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const first = inTransaction(trial.store, scope, async (em) => {
          await trial.mark(em, name);
          locked.resolve();
          await released.promise;
        });
        first.catch(locked.reject);
        await locked.promise;
        let isOver = false;
        const second = inTransaction(trial.store, scope, (em) => trial.marks(name, em)).finally(() => {
          isOver = true;
        });
        second.catch(() => undefined);
        try {
          const isWaiting = async () => (await trial.rows(WAITING))[0]?.count > 0;
          await until(async () => isOver || (await isWaiting()), { patienceMs, what: 'wait for the lock' });
          must(!isOver, 'no wait for the lock');
        } finally {
          released.resolve();
          await Promise.allSettled([first, second]);
        }
        must((await second) === 1, 'what was there before the wait');
      }),
    'tells a connection that broke, and goes on with another one': () =>
      open(async (trial) => {
        const [lost, next] = [trial.newMark(), trial.newMark()];
        const isGone = async (pid: number) =>
          (await trial.rows('select pid from pg_stat_activity where pid = ?', [pid])).length === 0;
        for (const goesOn of [true, false]) {
          const thrown = await trial.failure(async (em) => {
            await trial.mark(em, lost);
            const [{ pid }] = (await em.execute('select pg_backend_pid() as pid')) as [{ pid: number }];
            await trial.rows('select pg_terminate_backend(?)', [pid]);
            await until(() => isGone(pid), { patienceMs, what: 'end of the connection' });
            if (goesOn) await em.execute('select 1');
          });
          const category = isTurnlockError(thrown) ? thrown.category : null;
          must(category === 'transient' || category === 'commitUnknown', `${shown(thrown)}, of ${category}`);
        }
        must((await trial.marks(lost)) === 0, 'a row of what was lost');
        await trial.transaction((em) => trial.mark(em, next));
        must((await trial.marks(next)) === 1, 'no row of the next transaction');
      }),
  };
}

/** What may not, on PGlite. */
export function ofTheOneConnection({ open }: DatabaseTrials): Record<string, () => Promise<void>> {
  return {
    'lets a transaction wait until the one before it has ended': () =>
      open(async (trial) => {
        const name = trial.newMark();
        const steps: string[] = [];
        const step = (of: string) =>
          trial.transaction(async (em) => {
            steps.push(`${of} begins`);
            await trial.mark(em, `${name}-${of}`);
            await turn();
            steps.push(`${of} ends`);
          });
        await Promise.all([step('one'), step('other')]);
        must(steps.join() === 'one begins,one ends,other begins,other ends', shown(steps));
      }),
  };
}
