import type { Logger } from '../../platform/logger/logger';
import { createChanges } from '../changes';
import { createPushOutput, type FlushOptions, type PushOutput } from '../push-output';
import type { Registry } from '../registry';
import { statsdLines } from './lines';
import type { StatsdTarget } from './target';
import { createTcpSink } from './tcp-sink';
import { createUdpSink } from './udp-sink';

export interface StatsdDeps {
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export interface StatsdOptions extends FlushOptions, StatsdTarget {
  readonly protocol: 'tcp' | 'udp';
}

/** Statistics to a StatsD server. One that is away, slow or back again costs a warning, no count. */
export function createStatsd({ registry, logger }: StatsdDeps, options: StatsdOptions): PushOutput {
  const sink = options.protocol === 'tcp' ? createTcpSink(options) : createUdpSink(options);
  const changes = createChanges(registry);
  return createPushOutput({ changes, sink, toLines: statsdLines, logger }, options);
}
