import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from './bench-flags.ts';
import { describeMachine } from './machine.ts';
import { FEW, LONG_TURNS, measureInspector, openGround, SHORT_TURNS } from './measure-inspector.ts';
import { median } from './statistics.ts';

/*
 * How long until the inspector's pages are usable where there is much: its list with many sessions as a ratio to few, and the pages of a long
 * session as a ratio to a short one. Both are asked for in turns, of databases that are alike but for that, so other work on the machine
 * meets both.
 */

const USAGE = `Usage: npm run bench:inspector -- [options]

  --sessions <n>    how many are many (default 100000); few are ${FEW}
  --quick           2,000 sessions
  --json            one JSON object in place of the text
  --database <url>  use this server instead, as a role that may create databases and roles
`;

const { values } = parseArgs({ options: { ...BENCH_FLAGS, sessions: { type: 'string' } } });
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const sessions = Number(values.sessions ?? (values.quick ? 2_000 : 100_000));
const few = await openGround(values.database, { sessions: FEW, turns: SHORT_TURNS });
try {
  const many = await openGround(values.database, { sessions, turns: LONG_TURNS });
  try {
    const machine = await describeMachine(many.owner);
    const rows = [];
    if (!values.json) {
      const turns = `${LONG_TURNS} turns of one against ${SHORT_TURNS}`;
      process.stdout.write(`${sessions} sessions against ${FEW}, ${turns}; medians\n\n`);
    }
    for await (const { name, ...times } of measureInspector({ few, many })) {
      const [fewMs, manyMs] = [median(times.few), median(times.many)];
      const ratio = manyMs / fewMs;
      rows.push({ name, fewMs, manyMs, ratio });
      const text = `${manyMs.toFixed(1).padStart(8)} : ${fewMs.toFixed(1).padStart(6)} ms`;
      if (!values.json) process.stdout.write(`${name.padEnd(44)} ${text}  ${ratio.toFixed(2).padStart(6)} times\n`);
    }
    process.stdout.write(
      values.json ? `${JSON.stringify({ machine, sessions, rows })}\n` : `\n${JSON.stringify(machine)}\n`,
    );
  } finally {
    await many.close();
  }
} finally {
  await few.close();
}
