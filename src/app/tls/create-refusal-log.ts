import type { Statistics } from '../../core/ports';
import type { Logger } from '../../platform/logger';
import type { ClientRefusal } from '../../transport/grpc/options';

export interface RefusalLogDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

/** A client with a wrong certificate retries endlessly: one warning covers many. */
const WARN_EVERY_MS = 10_000;

/** Counts every client that TLS refused, and warns about them from time to time. */
export function createRefusalLog({ statistics, logger, monotonicMs }: RefusalLogDeps) {
  let silentUntilMs = -Infinity;
  let unreported = 0;
  return ({ peer, reason }: ClientRefusal): void => {
    statistics.count('ratelimit_server.tls_handshake_error', 1);
    const now = monotonicMs();
    if (now < silentUntilMs) {
      unreported += 1;
      logger.debug('refused a gRPC client', { peer, reason });
      return;
    }
    logger.warn('refused a gRPC client', { peer, reason, othersBefore: unreported });
    silentUntilMs = now + WARN_EVERY_MS;
    unreported = 0;
  };
}
