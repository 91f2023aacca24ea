import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError } from '../../errors.ts';
import type { ToolTransaction } from '../../persistence/database.contract.ts';
import { must, shown } from './contract-broken.ts';
import type { DatabaseTrial, DatabaseTrials } from './database-trial.ts';

/** What would end a transaction, or reach beyond it. */
const CONTROLS = ['begin', 'commit', 'rollback', "set search_path to 'public'"];

/** The transaction in the hands of a tool. */
export function ofTools({ open }: DatabaseTrials): Record<string, () => Promise<void>> {
  return {
    'gives a tool the transaction that is open, in the form of node-postgres': () =>
      open(async (trial) => {
        const name = trial.newMark();
        await trial.rolledBack((em) =>
          withTool(trial, em, async (tool) => {
            await trial.mark(tool.em, name);
            must((await trial.marks(name, em)) === 1, 'another transaction than the one that is open');
            const answer = await tool.query({ text: 'select $1::int as one, $2::text as two', values: [1, 'x'] });
            const { rows, rowCount, command, fields } = answer;
            const row = rows[0] as { one?: unknown; two?: unknown } | undefined;
            must(rows.length === 1 && row?.one === 1 && row.two === 'x', `the rows ${shown(rows)}`);
            must(rowCount === 1 && command === 'SELECT', `${shown({ rowCount, command })}`);
            must(fields.map((field) => field.name).join() === 'one,two', `the fields ${shown(fields)}`);
          }),
        );
        must((await trial.marks(name)) === 0, 'a row after the transaction was rolled back');
      }),
    'lets no tool end the transaction': () =>
      open(async (trial) => {
        const name = trial.newMark();
        await trial.transaction((em) =>
          withTool(trial, em, async (tool) => {
            await trial.mark(em, name);
            for (const text of CONTROLS) {
              const thrown = await tool.query({ text }).catch((error: unknown) => error);
              must(isTurnlockError(thrown, 'TRANSACTION_CONTROL'), `${shown(thrown)} for ${text}`);
            }
          }),
        );
        must((await trial.marks(name)) === 1, 'no row of what was committed');
      }),
    'takes no statement of a tool that has returned': () =>
      open((trial) =>
        trial.transaction(async (em) => {
          const tool = await trial.database.toolTransaction(em);
          await tool.close();
          const thrown = await tool.query({ text: 'select 1' }).catch((error: unknown) => error);
          must(isTurnlockError(thrown, 'TRANSACTION_OVER'), shown(thrown));
        }),
      ),
    'tells the first error of a tool’s statements': () =>
      open(async (trial) => {
        await trial.rolledBack((em) =>
          withTool(trial, em, async (tool) => {
            must(tool.firstError === undefined && !tool.isBroken, 'an error before there was one');
            await tool.query({ text: 'select 1 / 0' }).catch(() => undefined);
            const { code } = (tool.firstError ?? {}) as { code?: unknown };
            must(code === '22012', `the first error ${shown(tool.firstError)}`);
            must(!tool.isBroken, 'a broken connection');
          }),
        );
      }),
  };
}

async function withTool(
  { database }: DatabaseTrial,
  em: EntityManager,
  act: (tool: ToolTransaction) => Promise<void>,
): Promise<void> {
  const tool = await database.toolTransaction(em);
  try {
    await act(tool);
  } finally {
    await tool.close();
  }
}
