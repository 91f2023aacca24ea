import { newSession, openBenchRuntime, runOnce } from './bench-runtime.ts';
import { type Cost, costOf, type TransactionCost, transactionsOf } from './cost.ts';
import { countedPool } from './counted-pool.ts';

/** What one run with one tool call sends to the database. */
export interface RunCost extends Cost {
  /** The transactions that write, each with the event that it commits. */
  commits: (Cost & { event: string })[];
  /** Transactions that only read. */
  reads: number;
}

/** Counts a run of a session that has had one. */
export async function measureRun(url: string): Promise<RunCost> {
  const { pool, take } = countedPool(url);
  const runtime = await openBenchRuntime(pool);
  try {
    const session = await newSession(runtime);
    await runOnce(session);
    take();
    await runOnce(session);
    const trips = take();
    const transactions = transactionsOf(trips);
    const events = (await session.transitions()).slice(-4).map(({ type }) => type);
    const commits = transactions.filter(({ writes }) => writes);
    return {
      ...costOf(trips),
      commits: commits.map((commit, place) => ({ event: events[place] ?? '', ...plain(commit) })),
      reads: transactions.length - commits.length,
    };
  } finally {
    await runtime.close();
    await pool.end();
  }
}

function plain({ roundTrips, statements }: TransactionCost): Cost {
  return { roundTrips, statements };
}
