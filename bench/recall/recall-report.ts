import type { Machine } from '../machine.ts';
import type { Latency, SizeResult } from './measure-recall.ts';

/** The least share of the ten nearest that the vector half is to find. */
const MIN_RECALL = 0.95;

/** The tenants for whom an index over all tenants is hardest. */
const FEW = 50;

/** Rows per second. */
export interface Ingestion {
  /** By statements of 1,000 rows. */
  memoriesInBatches: number;
  vectorsInBatches: number;
  /** By `remember`, one after the other. */
  remembered: number;
  rememberedWithVectors: number;
}

/** Everything that was measured. */
export interface RecallResult {
  machine: Machine;
  rows: number;
  tenants: number;
  dimensions: number;
  sizes: SizeResult[];
  ingestion: Ingestion;
  /** What is not as promised, one sentence each. */
  violations: string[];
}

/** What is not as promised. */
export function recallViolationsOf(sizes: readonly SizeResult[]): string[] {
  const few = sizes.filter(({ memories }) => memories === FEW);
  const judged = [
    { name: 'over all', recall: recallOf(sizes) },
    { name: `of tenants with ${FEW} memories`, recall: recallOf(few) },
  ];
  const short = sizes.reduce((sum, one) => sum + one.short, 0);
  return [
    ...judged
      .filter(({ recall }) => !(recall >= MIN_RECALL))
      .map(({ name, recall }) => `recall@10 ${name} is ${recall.toFixed(3)} (wanted at least ${MIN_RECALL})`),
    ...(short > 0 ? [`${short} queries found fewer memories than there are`] : []),
  ];
}

/** Of all queries together; NaN where there are none. */
export function recallOf(sizes: readonly SizeResult[]): number {
  const queries = sizes.reduce((sum, one) => sum + one.queries, 0);
  return sizes.reduce((sum, one) => sum + one.recallAt10 * one.queries, 0) / queries;
}

/** The result as a table for people: ratios first, since they outlive the machine. */
export function renderRecall({
  machine,
  rows,
  tenants,
  dimensions,
  sizes,
  ingestion,
  violations,
}: RecallResult): string {
  const { date, cpu, cores, load, node, server } = machine;
  return [
    `${date}, ${cpu}, ${cores} cores (load ${load}), Node ${node}, ${server}`,
    `${rows} memories of ${tenants} tenants, ${dimensions} dimensions`,
    '',
    line('tenants with', 'recall@10', 'hybrid : vector', 'hybrid : plain', 'hybrid', 'vector', 'text', 'plain'),
    line('', '', 'p95', 'p95', 'p50, p95 ms', 'p50, p95 ms', 'p50, p95 ms', 'p50, p95 ms'),
    ...sizes.map((size) =>
      line(
        `${size.memories} (${size.owners})`,
        size.recallAt10.toFixed(3),
        (size.hybrid.p95 / size.vector.p95).toFixed(2),
        (size.hybrid.p95 / size.plain.p95).toFixed(2),
        ...[size.hybrid, size.vector, size.text, size.plain].map(milliseconds),
      ),
    ),
    '',
    `recall@10 over all ${recallOf(sizes).toFixed(3)}`,
    '',
    'Rows per second',
    `  in statements of 1,000: memories ${ingestion.memoriesInBatches}, vectors ${ingestion.vectorsInBatches}`,
    `  by remember, four at once: without vectors ${ingestion.remembered}, until each has its vector ${ingestion.rememberedWithVectors}`,
    '',
    ...(violations.length > 0 ? violations.map((one) => `NOT AS PROMISED: ${one}`) : ['As promised.']),
    '',
  ].join('\n');
}

function milliseconds({ p50, p95 }: Latency): string {
  return `${p50.toFixed(1)}, ${p95.toFixed(1)}`;
}

function line(name: string, ...cells: string[]): string {
  return [name.padEnd(16), ...cells.map((cell) => cell.padStart(16))].join('');
}
