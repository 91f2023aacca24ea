import { type Attributes, context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll } from 'vitest';
import { type OpenTelemetryOptions, openTelemetry } from '../../adapters/telemetry/telemetry.ts';

/** What a process exports of spans and metrics, in memory. */
export function telemetryRecorder(options: OpenTelemetryOptions = {}) {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 2 ** 30 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    tracerProvider,
    telemetry: openTelemetry({ tracerProvider, meterProvider, ...options }),
    spans: () => exporter.getFinishedSpans(),
    /** The points of a metric: each with its attributes and its value, of a histogram its count and sum. */
    async points(name: string): Promise<{ attributes: Attributes; value: unknown; unit: string }[]> {
      await reader.forceFlush();
      const metrics =
        metricExporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap(({ metrics: all }) => all) ?? [];
      return metrics
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints, descriptor }) =>
          dataPoints.map(({ attributes, value }) => ({ attributes, value, unit: descriptor.unit })),
        );
    },
  };
}

/** Gives the file a context manager, as an SDK does, and takes it away again. */
export function withContextManager(): void {
  beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
  afterAll(() => context.disable());
}

/** The spans as an outline, each under its parent and in the order in which they began; those whose parent is not there stand outermost. */
export function outline(spans: readonly ReadableSpan[], more: (span: ReadableSpan) => string = () => ''): string[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const began = (span: ReadableSpan) => span.startTime[0] * 1e9 + span.startTime[1];
  const below = (parent: string | null, depth: number): string[] =>
    spans
      .map((span, place) => ({ span, place }))
      .filter(({ span }) => {
        const id = span.parentSpanContext?.spanId ?? null;
        return parent === null ? id === null || !known.has(id) : id === parent;
      })
      .sort((a, b) => began(a.span) - began(b.span) || a.place - b.place)
      .flatMap(({ span }) => [
        `${'  '.repeat(depth)}${span.name}${more(span)}`,
        ...below(span.spanContext().spanId, depth + 1),
      ]);
  return below(null, 0);
}

/** The one trace that all of `spans` are of. @throws Error where there are several. */
export function oneTrace(spans: readonly ReadableSpan[]): string {
  const ids = new Set(spans.map((span) => span.spanContext().traceId));
  if (ids.size !== 1) throw new Error(`wanted one trace, found ${[...ids].join(', ')}`);
  return [...ids][0] as string;
}
