import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { endOnSignals } from '../adapters/cli/children/end-on-signals.ts';
import { rehearse } from '../adapters/cli/rehearse/rehearse.ts';
import { renderReport } from '../adapters/cli/rehearse/render-report.ts';
import { showProgress } from '../adapters/cli/rehearse/show-progress.ts';
import { openTerminal } from '../adapters/cli/terminal.ts';
import { startEmbeddedServer } from '../test/support/embedded-server.ts';

/** Seconds for each of the two rehearsals. */
const MAX_SECONDS = Number(process.env.TURNLOCK_REHEARSE_SECONDS ?? 900);

/** The real recordings, which are no part of the repository: beside it, or where TURNLOCK_SHARED says. */
const FILE = join(process.env.TURNLOCK_SHARED ?? join('..', 'shared'), 'data', 'recorded-sessions.jsonl');

const WANTED_SESSIONS = 60;

/** Conversations on the embedded database, the first so many: a process that starts there brings PostgreSQL up, which takes its time. */
const EMBEDDED_SESSIONS = Number(process.env.TURNLOCK_REHEARSE_EMBEDDED ?? WANTED_SESSIONS);

/** Conversations on a server, the first so many. */
const SERVER_SESSIONS = Number(process.env.TURNLOCK_REHEARSE_SERVER ?? WANTED_SESSIONS);

const terminal = openTerminal({});
endOnSignals();
if (!existsSync(FILE)) {
  terminal.line(
    `rehearse-recorded: no recordings at ${FILE}. Put the shared folder beside the clone, or name it in TURNLOCK_SHARED.`,
  );
  process.exit(1);
}
const server = await startEmbeddedServer();
const seed = Number(process.env.TURNLOCK_SEED ?? 1) % 2 ** 32;
const isOk = [
  await run('an embedded database', EMBEDDED_SESSIONS),
  await run('a server', SERVER_SESSIONS, server.url),
].every(Boolean);
await server.stop();
process.exit(isOk ? 0 : 1);

async function run(place: string, wanted: number, database?: string): Promise<boolean> {
  terminal.line(`rehearse-recorded: ${FILE} on ${place}`);
  const progress = showProgress(terminal);
  const report = await rehearse({
    source: { file: FILE, limit: wanted },
    ...(database === undefined ? {} : { database }),
    seed,
    killEvery: 5,
    parallel: 8,
    toolMs: 25,
    maxSeconds: MAX_SECONDS,
    onProgress: progress.update,
  }).finally(progress.end);
  for (const line of renderReport(report, terminal.colours)) terminal.line(line);
  return report.ok && report.sessions.equal === wanted;
}
