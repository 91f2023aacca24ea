import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { openBenchDatabase } from './bench-database.ts';
import { BENCH_FLAGS } from './bench-flags.ts';
import { fillSessions } from './fill-sessions.ts';
import { describeMachine, type Machine } from './machine.ts';

/*
 * What it takes to examine many sessions: time and memory of doctor over few and over many, each in a process of its own. Exits with 1 when
 * memory grows with the number of sessions (the process has a heap of 64 MB), or when anything is found in a database that is well.
 */

const USAGE = `Usage: npm run bench:doctor -- [options]

  --sessions <n>    how many are many (default 100000)
  --audit           with the audit of each: chain, contents and fold (default: --quick of doctor)
  --quick           2,000 sessions
  --json            one JSON object in place of the text
  --database <url>  use this server instead, as a role that may create databases and roles
`;

/** What one examination came to. */
interface Examined {
  sessions: number;
  ms: number;
  maxRssBytes: number;
  errors: number;
  findings: object[];
}

interface Result {
  machine: Machine;
  audits: boolean;
  few: Examined;
  many: Examined;
  violations: string[];
}

/** Memory over many sessions may be so many times that over few. */
const MAX_GROWTH = 1.5;

/** As many pages that the heap is warm. */
const FEW = 10_000;

/** Megabytes of heap that the examining process may have at the most: with more in memory it dies. */
const HEAP_MB = 64;

async function examineApart(url: string, tenantId: string, audits: boolean): Promise<Examined> {
  const child = fileURLToPath(new URL('doctor.child.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[`--max-old-space-size=${HEAP_MB}`, child],
    ...[url, tenantId, String(!audits)],
  ]);
  return JSON.parse(stdout) as Examined;
}

async function measure(sessions: number, audits: boolean, server: string | undefined): Promise<Result> {
  const database = await openBenchDatabase(server);
  try {
    const machine = await describeMachine(database.owner);
    await fillSessions(database.owner, 'few', Math.min(FEW, sessions / 2));
    await fillSessions(database.owner, 'many', sessions);
    const few = await examineApart(database.url, 'few', audits);
    const many = await examineApart(database.url, 'many', audits);
    return { machine, audits, few, many, violations: violationsOf(few, many) };
  } finally {
    await database.drop();
  }
}

function violationsOf(few: Examined, many: Examined): string[] {
  const growth = many.maxRssBytes / few.maxRssBytes;
  return [
    ...(growth > MAX_GROWTH ? [`memory grew ${growth.toFixed(2)} times (wanted at most ${MAX_GROWTH})`] : []),
    ...[few, many].flatMap(({ errors, findings }) => (errors > 0 ? [`found ${JSON.stringify(findings)}`] : [])),
  ];
}

function render({ machine, audits, few, many, violations }: Result): string {
  const { date, cpu, cores, load, node, server } = machine;
  const row = ({ sessions, ms, maxRssBytes }: Examined) =>
    `${String(sessions).padStart(9)}  ${(ms / 1_000).toFixed(1).padStart(8)} s  ${((ms / sessions) * 1_000).toFixed(0).padStart(6)} µs each  ${(maxRssBytes / 2 ** 20).toFixed(0).padStart(5)} MB at the most`;
  return [
    `doctor${audits ? '' : ' --quick'}, ${date}, ${cores} cores of ${cpu}, load ${load}, Node ${node}, ${server}`,
    ` sessions      time`,
    row(few),
    row(many),
    `memory, many : few  ${(many.maxRssBytes / few.maxRssBytes).toFixed(2)}`,
    ...violations.map((violation) => `VIOLATED: ${violation}`),
    '',
  ].join('\n');
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { sessions: { type: 'string' }, audit: { type: 'boolean', default: false }, ...BENCH_FLAGS },
});
if (values.help) {
  process.stdout.write(USAGE);
} else {
  const sessions = values.quick ? 2_000 : Number(values.sessions ?? 100_000);
  const result = await measure(sessions, values.audit, values.database);
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : render(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
