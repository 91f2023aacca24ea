import type { Machine } from '../machine.ts';
import { type Quality, type TypeQuality, WAYS } from './measure-quality.ts';
import type { Retrieval } from './retrieval-metrics.ts';

/** Everything that was measured. */
export interface QualityResult {
  machine: Machine;
  embedder: { modelId: string; dimensions: number };
  memories: number;
  qualities: Quality[];
}

const COLUMNS: readonly [string, keyof Retrieval][] = [
  ['recall@5', 'recallAt5'],
  ['recall@10', 'recallAt10'],
  ['MRR@10', 'reciprocalRank'],
  ['nDCG@10', 'ndcgAt10'],
];

/** The result for people, as tables of Markdown. */
export function renderQuality({ machine, embedder, memories, qualities }: QualityResult): string {
  const { date, cpu, cores, node, server } = machine;
  return [
    `${date}, ${cores} cores of ${cpu}, Node ${node}, ${server}`,
    `${memories} memories, embedder ${embedder.modelId} of ${embedder.dimensions} dimensions`,
    ...qualities.flatMap(({ languages, all, types, advantages }) => [
      '',
      `Text search in ${languages}; ${WAYS.join(' / ')}`,
      '',
      `| queries | | ${COLUMNS.map(([name]) => name).join(' | ')} |`,
      `|---|---|${COLUMNS.map(() => '---').join('|')}|`,
      ...[all, ...types].map(row),
      '',
      'hybrid above one half alone, with the bounds of 95 %',
      '',
      ...advantages.map(
        ({ over, of, mean, low, high }) =>
          `- ${nameOf(of)} over ${over}: ${signed(mean)} (${signed(low)} to ${signed(high)})`,
      ),
    ]),
    '',
  ].join('\n');
}

function row({ type, queries, by }: TypeQuality): string {
  const cells = COLUMNS.map(([, metric]) => WAYS.map((way) => by[way][metric].toFixed(2)).join(' / '));
  return `| ${type} | ${queries} | ${cells.join(' | ')} |`;
}

function nameOf(metric: keyof Retrieval): string {
  return COLUMNS.find(([, one]) => one === metric)?.[0] ?? metric;
}

function signed(number: number): string {
  return `${number < 0 ? '−' : '+'}${Math.abs(number).toFixed(3)}`;
}
