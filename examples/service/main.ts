import { type Kept, keep, type ProcessOptions } from './processes.ts';

/*
 * Starts everything and keeps it running: a database where none is given, the payments service, two workers, and the process that serves the
 * pages. Ctrl-C ends all of it.
 */

const WORKERS = ['worker-1', 'worker-2'];
const ENDING = [['web', ...WORKERS], ['payments'], ['database']];
const { PORT = '4000', DATABASE_URL } = process.env;

const started: Kept[] = [];
let isEnding = false;

process.on('SIGINT', () => (isEnding ? process.exit(130) : end(0)));
process.on('SIGTERM', () => end(0));
process.on('disconnect', () => end(0));

/** Ends the processes, those first that use the others. */
async function end(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  console.log('ending');
  for (const names of ENDING) {
    await Promise.all(started.filter(({ name }) => names.includes(name)).map((kept) => kept.stop()));
  }
  process.exit(code);
}

async function startOne(options: Omit<ProcessOptions, 'changed'>): Promise<Kept> {
  const { name, restarts } = options;
  const kept = await keep({
    ...options,
    changed(ended) {
      if (isEnding) return;
      console.log(ended === undefined ? `${name} is back: process ${kept.pid}` : `${name} ended: ${ended}`);
      if (ended !== undefined && !restarts) void end(1);
      tellWorkers();
    },
  });
  started.push(kept);
  return kept;
}

/** The page shows which workers there are. */
function tellWorkers(): void {
  const workers = started.filter(({ name }) => WORKERS.includes(name)).map(({ name, pid }) => ({ name, pid }));
  started.find(({ name }) => name === 'web')?.tell({ workers });
}

async function start(): Promise<void> {
  const [database, payments] = await Promise.all([
    DATABASE_URL ?? startOne({ name: 'database', file: 'database.ts', detached: true }).then(({ url }) => url),
    startOne({ name: 'payments', file: 'payments.ts' }).then(({ url }) => url),
  ]);
  const env = { DATABASE_URL: database, PAYMENTS_URL: payments, PORT };
  const serving = ['web', ...WORKERS].map((name) =>
    startOne({
      name,
      file: name === 'web' ? 'web.ts' : 'worker.ts',
      env: { ...env, PROCESS_NAME: name },
      restarts: true,
    }),
  );
  const [web] = await Promise.all(serving);
  tellWorkers();
  for (const { name, pid, url } of started) {
    console.log(`${name} is process ${pid}${name === 'payments' ? ` at ${url}` : ''}`);
  }
  console.log(`
The desk       ${web?.url}
The inspector  ${web?.url}/inspector
Ctrl-C ends everything.`);
}

await start().catch((error: unknown) => {
  if (isEnding) return;
  console.error(String(error));
  void end(1);
});
