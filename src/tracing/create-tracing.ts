import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { BatchTracer, CallTracer, Clock, Random, Statistics } from '../core/ports';
import type { Logger } from '../platform/logger/logger';
import { chooseExporter, type ExporterOptions } from './choose-exporter';
import { createTracer, type TracerOptions } from './create-tracer';
import { createEpoch } from './epoch';
import { createSpanSink } from './span-sink';
import { watchExports } from './watch-exports';

/** What follows calls and batches; `close` exports what is left, for a while. */
export interface Tracing {
  readonly tracer: CallTracer & BatchTracer;
  /** Settles after `withinMs` at the latest, also when the collector hangs. */
  close(withinMs: number): Promise<void>;
}

export interface TracingDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

export interface TracingOptions extends TracerOptions {
  /** What is said of this instance. */
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly exporter: ExporterOptions;
  readonly batches: {
    /** Spans that wait; more are dropped. */
    readonly queueSize: number;
    readonly batchSize: number;
    readonly delayMs: number;
    readonly exportTimeoutMs: number;
  };
}

/** Spans by OTLP to a collector. Throws when a certificate cannot be read. */
export function createTracing(
  { clock, monotonicMs, random, statistics, logger }: TracingDeps,
  options: TracingOptions,
): Tracing {
  const { exporter, batches, resourceAttributes } = options;
  const collector = new URL(exporter.url).host;
  const processor = new BatchSpanProcessor(
    watchExports(chooseExporter(exporter), { statistics, logger, collector }),
    {
      maxQueueSize: batches.queueSize,
      maxExportBatchSize: batches.batchSize,
      scheduledDelayMillis: batches.delayMs,
      exportTimeoutMillis: batches.exportTimeoutMs,
    },
  );
  const sink = createSpanSink({
    resource: defaultResource().merge(resourceFromAttributes({ ...resourceAttributes })),
    exportSpan: (span) => {
      processor.onEnd(span);
    },
    epochMs: createEpoch(() => clock() * 1_000, monotonicMs),
  });
  return {
    tracer: createTracer({ sink, random }, options),
    async close(withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      const lost = (error: unknown) => {
        logger.debug('the last traces are lost', { error });
      };
      await Promise.race([processor.shutdown().catch(lost), late]);
      clearTimeout(timer);
    },
  };
}
