import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { vector } from '@electric-sql/pglite-pgvector';
import { pglite } from '../adapters/databases/pglite.ts';
import { hashedNgrams } from '../adapters/models/scripted.ts';
import { createRuntime } from '../index.ts';
import { BENCH_FLAGS } from './bench-flags.ts';
import type { Machine } from './machine.ts';
import { idleAgent } from './recall/idle-agent.ts';
import { measureQuality } from './recall/measure-quality.ts';
import { type QualityResult, renderQuality } from './recall/quality-report.ts';
import { type LabelledMemory, readLabels } from './recall/read-labels.ts';

/*
 * How well memories are found: labelled queries, answered by text alone, by vector alone and by both. On the embedded database, with the
 * embedder that knows no meaning. See docs/memory.md for what came of it. Nothing is promised by it, so it always exits with 0.
 */

const USAGE = `Usage: npm run bench:recall-quality -- [options]

Answers the labelled queries of bench/recall by text, by vector and by both, and prints recall, reciprocal rank and nDCG.

  --json            one JSON object in place of the tables
  --help            this text
`;

/** Languages of the users who do not write English. */
const LANGUAGES: Readonly<Record<string, string>> = { eva: 'german', hugo: 'spanish' };

const SETTINGS = [
  { languages: 'the language of each user', languageOf: ({ user }: LabelledMemory) => LANGUAGES[user] ?? 'english' },
  { languages: 'no language (simple, the default)', languageOf: () => 'simple' },
];

async function measure(): Promise<QualityResult> {
  const labels = readLabels();
  const embedder = hashedNgrams();
  const qualities = [];
  for (const settings of SETTINGS) {
    const database = pglite({ extensions: { vector } });
    await using runtime = await createRuntime({ database, agents: [idleAgent], memory: { embedder } });
    qualities.push(await measureQuality(runtime, labels, settings));
  }
  const { modelId, dimensions } = embedder;
  return { machine: here(), embedder: { modelId, dimensions }, memories: labels.memories.length, qualities };
}

function here(): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: availableParallelism(),
    load: Number(loadavg()[0]?.toFixed(1)),
    node: process.versions.node,
    server: 'PGlite',
  };
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { json: BENCH_FLAGS.json, help: BENCH_FLAGS.help },
});
if (values.help) {
  process.stdout.write(USAGE);
} else {
  const result = await measure();
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : renderQuality(result));
}
