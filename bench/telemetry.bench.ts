import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { endOnSignals } from '../adapters/cli/children/end-on-signals.ts';
import { postgres } from '../adapters/databases/postgres.ts';
import { openTelemetry } from '../adapters/telemetry/telemetry.ts';
import { createRuntime, type RuntimeOptions } from '../index.ts';
import { openBenchDatabase } from './bench-database.ts';
import { newSession, runOnce } from './bench-runtime.ts';
import { describeMachine } from './machine.ts';
import { oneToolAgent } from './one-tool-agent.ts';
import { median } from './statistics.ts';

/*
 * What telemetry costs: the same runs without, with spans and metrics (sampled all, batched, exported to memory), with contents too, and with
 * a log, in turns. Prints the
 * median time of a run of each, the CPU that this process took for one, and the ratios to those without: on a machine that is busy, the latter. `--quick` for fewer; `--database <url>`.
 */

endOnSignals();
const args = process.argv.slice(2);
const isQuick = args.includes('--quick');
const url = args.includes('--database') ? args[args.indexOf('--database') + 1] : undefined;
const [rounds, runs] = isQuick ? [3, 20] : [10, 50];

const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(spans)] });
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

type Told = Pick<RuntimeOptions, 'telemetry' | 'log'>;
const lines: string[] = [];
const variants: Record<string, Told> = {
  without: {},
  'spans and metrics': { telemetry: openTelemetry({ tracerProvider, meterProvider }) },
  'and contents': { telemetry: openTelemetry({ tracerProvider, meterProvider, content: true }) },
  log: { log: (entry) => lines.push(JSON.stringify(entry)) },
};

const database = await openBenchDatabase(url);
try {
  const opened = await Promise.all(
    Object.entries(variants).map(async ([name, told]) => {
      const given = { database: postgres(database.url), agents: [oneToolAgent], onWarning: () => undefined, ...told };
      const runtime = await createRuntime({ ...given, migrate: 'check' });
      return { name, runtime, session: await newSession(runtime), times: [] as number[], cpu: [] as number[] };
    }),
  );
  for (const { session } of opened) for (let run = 0; run < runs / 5; run += 1) await runOnce(session);
  for (let round = 0; round < rounds; round += 1) {
    for (const { session, times, cpu } of opened) {
      const before = process.cpuUsage();
      for (let run = 0; run < runs; run += 1) {
        const began = performance.now();
        await runOnce(session);
        times.push(performance.now() - began);
      }
      const { user, system } = process.cpuUsage(before);
      cpu.push((user + system) / 1_000 / runs);
      spans.reset();
      lines.length = 0;
    }
  }
  for (const { runtime } of opened) await runtime.close();
  console.log(JSON.stringify(await describeMachine(database.owner)));
  const [first] = opened;
  const base = { ms: median(first?.times ?? []), cpuMs: median(first?.cpu ?? []) };
  for (const { name, times, cpu } of opened) {
    const [ms, cpuMs] = [median(times), median(cpu)];
    const ratios = `${(ms / base.ms).toFixed(2)} times, ${(cpuMs / base.cpuMs).toFixed(2)} times its CPU`;
    console.log(`${name.padEnd(18)} ${ms.toFixed(2)} ms a run, ${cpuMs.toFixed(2)} ms of CPU   ${ratios}`);
  }
} finally {
  await tracerProvider.shutdown();
  await meterProvider.shutdown();
  await database.drop();
}
