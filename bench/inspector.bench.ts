import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { postgres } from '../adapters/databases/postgres.ts';
import { serve } from '../adapters/http/serve.ts';
import { inspect } from '../adapters/inspector/inspect.ts';
import { systemEnvironment } from '../environment.ts';
import { resolveLimits } from '../limits.ts';
import { openBenchDatabase } from './bench-database.ts';
import { BENCH_FLAGS } from './bench-flags.ts';
import { fillSessions } from './fill-sessions.ts';
import { describeMachine } from './machine.ts';

/*
 * How long until the inspector's list is usable with many sessions, as a ratio to few: the server's time for the first page, for a filter, and
 * for a page from the middle, and, with Chromium, the time until a browser has loaded the page.
 */

const USAGE = `Usage: npm run bench:inspector -- [options]

  --sessions <n>    how many are many (default 100000); few are 100
  --quick           2,000 sessions
  --json            one JSON object in place of the text
  --database <url>  use this server instead, as a role that may create databases and roles
`;

const FEW = 100;
const TIMES = 15;
const CHROMIUM = '/usr/bin/chromium';

const { values } = parseArgs({ options: { ...BENCH_FLAGS, sessions: { type: 'string' } } });
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const sessions = Number(values.sessions ?? (values.quick ? 2_000 : 100_000));
const database = await openBenchDatabase(values.database);
try {
  const machine = await describeMachine(database.owner);
  for (const [tenant, count] of [
    ['few', FEW],
    ['many', sessions],
  ] as const) {
    await fillSessions(database.owner, tenant, count);
    await database.owner.query("SET session_replication_role = 'replica'");
    await database.owner.query(
      `UPDATE turnlock.agent_sessions s SET updated_at = now() - n.place * interval '1 second'
         FROM (SELECT session_id, row_number() OVER () AS place FROM turnlock.agent_sessions WHERE tenant_id = $1) n
        WHERE s.session_id = n.session_id`,
      [tenant],
    );
    await database.owner.query("SET session_replication_role = 'origin'");
  }
  await database.owner.query('VACUUM ANALYZE turnlock.agent_sessions');
  const few = await measure(database.url, 'few', FEW);
  const many = await measure(database.url, 'many', sessions);
  const report = { machine, sessions, few, many };
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else {
    process.stdout.write(`The inspector's list with ${sessions} sessions, against ${FEW}; medians of ${TIMES}\n\n`);
    for (const name of Object.keys(many)) {
      const [one, other] = [few[name] ?? Number.NaN, many[name] ?? Number.NaN];
      process.stdout.write(
        `${name.padEnd(28)} ${other.toFixed(1).padStart(8)} ms  ${(other / one).toFixed(2)} times\n`,
      );
    }
    process.stdout.write(`\n${JSON.stringify(machine)}\n`);
  }
} finally {
  await database.drop();
}

/** Medians in milliseconds, by what was asked for. */
async function measure(url: string, tenantId: string, count: number): Promise<Record<string, number>> {
  const environment = systemEnvironment;
  const limits = resolveLimits({});
  const opened = await postgres(url).connect({ environment, limits });
  const store = { database: opened, environment, limits };
  const handler = inspect({ store, runtime: null, environment }, { viewer: { tenantId, by: 'bench' } });
  const served = await serve(handler);
  try {
    const middle = `${(Date.now() - (count / 2) * 1_000) * 1_000}.00000000-0000-0000-0000-000000000000`;
    const paths = {
      'first page': '/',
      'from the middle': `/?older=${middle}`,
      'a state that none has': '/?state=FAILED',
      'by agent': '/?agent=bench',
      'needs a person': '/?asked=1',
      'search by an external id': '/?q=ticket-1',
    };
    const found: Record<string, number> = {};
    for (const [name, path] of Object.entries(paths)) {
      found[name] = await median(async () => {
        const response = await fetch(served.url + path);
        await response.text();
        if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      });
    }
    if (existsSync(CHROMIUM)) found['in a browser, until usable'] = await inBrowser(served.url);
    return found;
  } finally {
    await served.close();
    await opened.close();
  }
}

async function inBrowser(url: string): Promise<number> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    return await median(async () => {
      await page.goto(url, { waitUntil: 'load' });
      await page.locator('#list tbody tr').first().waitFor();
    });
  } finally {
    await browser.close();
  }
}

async function median(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < TIMES + 2; n += 1) {
    const begun = performance.now();
    await work();
    if (n >= 2) times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
