import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { allEntries } from '../test/testing/gallery/all-entries.ts';
import { checkPolicy } from '../testing/check-policy.ts';
import { checkToolPolicy } from '../testing/check-tool-policy.ts';
import type { CheckReport } from '../testing/report/tool-policy-report.ts';

/*
 * Every entry of the gallery: what is wrong must be found at each seed, in few commands; in what is right nothing may be found. Two processes
 * share the entries.
 */

const PROCESSES = 2;
const MAX_COMMANDS = 6;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1,2,3,4,5' },
    runs: { type: 'string', default: '200' },
    'right-runs': { type: 'string', default: '2000' },
    part: { type: 'string' },
    text: { type: 'boolean', default: false },
  },
});

if (values.part === undefined) {
  const parts = Array.from({ length: PROCESSES }, (_, part) => playPart(part));
  process.exitCode = (await Promise.all(parts)).some((code) => code !== 0) ? 1 : 0;
} else {
  process.exitCode = (await playEntries(Number(values.part))) ? 0 : 1;
}

function playPart(part: number): Promise<number | null> {
  const child = fork(import.meta.filename, [...process.argv.slice(2), '--part', String(part)]);
  return new Promise((resolve) => child.once('close', resolve));
}

/** Whether all of them came out as they should. */
async function playEntries(part: number): Promise<boolean> {
  let isGood = true;
  const chosen = allEntries.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  for (const entry of chosen.filter((_, place) => place % PROCESSES === part)) {
    const isRight = entry.mistake === undefined;
    const seeds = values.seeds.split(',').map(Number);
    for (const seed of isRight ? seeds.slice(0, 1) : seeds) {
      const startedAt = performance.now();
      const numRuns = Number(isRight ? values['right-runs'] : values.runs);
      const options = { ...entry.check, seed, numRuns } as never;
      const report: CheckReport = await (entry.kind === 'tools' ? checkToolPolicy(options) : checkPolicy(options));
      const { ok, runs, failure } = report;
      const commands = failure?.commands.length ?? 0;
      const isAsItShould = ok === isRight && commands <= MAX_COMMANDS;
      isGood &&= isAsItShould;
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      const found = failure === null ? 'nothing found' : `${commands} commands: ${failure.invariant}`;
      console.log(
        `${isAsItShould ? 'ok ' : 'BAD'} ${isRight ? 'right' : 'wrong'} ${entry.name}, seed ${seed}, ${runs} runs, ${seconds} s, ${found}`,
      );
      if (failure !== null && (!isAsItShould || values.text)) console.log(failure.text);
    }
  }
  return isGood;
}
