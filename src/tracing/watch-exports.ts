import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { Statistics } from '../core/ports';
import type { Logger } from '../platform/logger/logger';
import { toReason } from '../platform/errors';
import type { OtlpTransport } from './choose-exporter';
import type { SpanExporter } from './span-queue';

interface WatchDeps {
  readonly statistics: Statistics;
  readonly logger: Logger;
  /** Where to, for the log; holds no credential. */
  readonly collector: string;
}

const EXPORTED = 'ratelimit.tracing.spans_exported';
const FAILED = 'ratelimit.tracing.spans_failed';

/** Exports, counted; one warning when the collector goes away and one when it is back. */
export function watchExports(
  transport: OtlpTransport,
  { statistics, logger, collector }: WatchDeps,
): SpanExporter {
  let isAway = false;

  const note = (spans: number, { code, error }: ExportResult): void => {
    const isGood = code === ExportResultCode.SUCCESS;
    statistics.count(isGood ? EXPORTED : FAILED, spans);
    if (isGood === !isAway) return;
    isAway = !isGood;
    if (isGood) logger.warn(`traces reach the collector at ${collector} again`);
    else {
      const reason = error === undefined ? 'unknown' : toReason(error);
      logger.warn(`traces do not reach the collector at ${collector}, they are lost`, { reason });
    }
  };

  return {
    send(batch, done) {
      transport.export(batch, (result) => {
        note(batch.spans, result);
        done();
      });
    },
    close: () => transport.shutdown(),
  };
}
