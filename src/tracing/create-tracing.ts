import { randomFillSync } from 'node:crypto';
import { SDK_INFO } from '@opentelemetry/core';
import type { BatchTracer, CallTracer, Clock, Random, Statistics } from '../core/ports';
import type { Logger } from '../platform/logger';
import { spansOrigin } from '../wire/otlp/shapes';
import { createSpanWriter } from '../wire/otlp/span-writer';
import { createExporter, type ExporterDeps, type ExporterOptions } from './create-exporter';
import { createTracer, type TracerOptions } from './create-tracer';
import { sizeOf } from './span-records';
import { createSpanQueue, type SpanQueueOptions } from './span-queue';
import { createEpoch, createWriteSpan } from './write-spans';
import type { SpanIds } from '../wire/otlp/shapes';

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

/** Drawing many at once costs a fraction of drawing each. */
const DRAWN_AT_ONCE = 1_024;

/** Ids of new spans: children, or the first of a trace. Filled from a random source that never repeats. */
export function createChildIds(
  randomFill: (numbers: Int32Array) => void,
): (parent: SpanIds | undefined) => SpanIds {
  const numbers = new Int32Array(DRAWN_AT_ONCE);
  let next = DRAWN_AT_ONCE;
  const draw = (): number => {
    if (next === DRAWN_AT_ONCE) {
      randomFill(numbers);
      next = 0;
    }
    return numbers[next++] as number;
  };
  // An id may not be all zeros (W3C Trace Context §3.2.2).
  const drawSome = () => draw() || 1;
  const newTrace = () => ({
    trace0: drawSome(),
    trace1: draw(),
    trace2: draw(),
    trace3: draw(),
    traceState: '',
  });
  return (parent) => {
    const { trace0, trace1, trace2, trace3, traceState } = parent ?? newTrace();
    const [span0, span1] = [drawSome(), draw()];
    return { trace0, trace1, trace2, trace3, span0, span1, traceState, isRemote: false };
  };
}
