import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Statistics } from '../core/ports';
import type { Logger } from '../platform/logger/logger';

interface WatchDeps {
  readonly statistics: Statistics;
  readonly logger: Logger;
  /** Where to, for the log; holds no credential. */
  readonly collector: string;
}

const EXPORTED = 'ratelimit.tracing.spans_exported';
const FAILED = 'ratelimit.tracing.spans_failed';

/** The same exporter, counted; one warning when the collector goes away and one line when it is back. */
export function watchExports(
  exporter: SpanExporter,
  { statistics, logger, collector }: WatchDeps,
): SpanExporter {
  let isAway = false;

  const note = (spans: number, { code, error }: ExportResult): void => {
    const isGood = code === ExportResultCode.SUCCESS;
    statistics.count(isGood ? EXPORTED : FAILED, spans);
    if (isGood === !isAway) return;
    isAway = !isGood;
    if (isGood) logger.info(`traces reach the collector at ${collector} again`);
    else {
      const reason = error?.message ?? 'unknown';
      logger.warn(`traces do not reach the collector at ${collector}, they are lost`, { reason });
    }
  };

  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void) {
      exporter.export(spans, (result) => {
        note(spans.length, result);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
