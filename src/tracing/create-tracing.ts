import { randomFillSync } from 'node:crypto';
import { SDK_INFO } from '@opentelemetry/core';
import type { BatchTracer, CallTracer, Clock, Random, Statistics } from '../core/ports';
import type { Logger } from '../platform/logger/logger';
import { spansOrigin } from '../wire/otlp/shapes';
import { createSpanWriter } from '../wire/otlp/span-writer';
import { createChildIds } from './child-ids';
import { createExporter, type ExporterDeps, type ExporterOptions } from './create-exporter';
import { createTracer, type TracerOptions } from './create-tracer';
import { sizeOf } from './span-records';
import { createSpanQueue, type SpanQueueOptions } from './span-queue';
import { createEpoch, createWriteSpan } from './write-spans';

/** The spans of calls and batches; `close` exports the rest. */
export interface Tracing {
  readonly tracer: CallTracer & BatchTracer;
  /** Settles after `withinMs` at the latest, also when the collector hangs. */
  close(withinMs: number): Promise<void>;
}

export interface TracingDeps extends Pick<ExporterDeps, 'onExport'> {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

export interface TracingOptions extends TracerOptions {
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** Attributes of the store, on the spans of store batches. */
  readonly store: Readonly<Record<string, string>>;
  readonly exporter: ExporterOptions;
  readonly batches: SpanQueueOptions;
}

const DROPPED = 'ratelimit.tracing.spans_dropped';
const SCOPE = 'weir';
/** Attributes of the SDK: ids, headers and transport are this library's. */
const SDK_ATTRIBUTES = ['telemetry.sdk.language', 'telemetry.sdk.name', 'telemetry.sdk.version'];

/** Spans by OTLP to a collector. Throws when a certificate cannot be read. */
export function createTracing(
  { clock, monotonicMs, random, statistics, logger, onExport }: TracingDeps,
  options: TracingOptions,
): Tracing {
  const { exporter, batches, resourceAttributes } = options;
  const sdk: Readonly<Record<string, unknown>> = SDK_INFO;
  const origin = spansOrigin(
    {
      ...Object.fromEntries(SDK_ATTRIBUTES.map((name) => [name, String(sdk[name])])),
      ...resourceAttributes,
    },
    SCOPE,
  );
  const writer = createSpanWriter(origin);
  const epoch = createEpoch(() => clock() * 1_000, monotonicMs);
  const childOf = createChildIds((numbers) => {
    randomFillSync(numbers);
  });
  const queue = createSpanQueue(
    {
      sizeOf,
      encode: createWriteSpan({ writer, childOf, toUnixMs: epoch.toUnixMs }, options.store),
      take: writer.take,
      onEncode: epoch.follow,
      exporter: createExporter(exporter, { statistics, onExport }),
      onDropped: () => {
        statistics.count(DROPPED, 1);
      },
    },
    batches,
  );
  return {
    tracer: createTracer({ add: queue.add, monotonicMs, random, childOf }, options),
    async close(withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      const lost = (error: unknown) => {
        logger.debug('the last traces are lost', { error });
      };
      await Promise.race([queue.close().catch(lost), late]);
      clearTimeout(timer);
    },
  };
}
