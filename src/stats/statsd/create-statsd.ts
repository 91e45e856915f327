import type { Logger } from '../../platform/logger/logger';
import { type Change, createChanges } from '../changes';
import { createPlainNaming, type Naming } from '../naming';
import { createPushOutput, type FlushOptions, type PushOutput } from '../push-output';
import type { Registry } from '../registry';
import { statsdLines } from './lines';
import type { StatsdTarget } from './target';
import { createTcpSink } from './tcp-sink';
import { createUdpSink } from './udp-sink';

export interface StatsdDeps {
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
}

export interface StatsdOptions extends FlushOptions, StatsdTarget {
  readonly protocol: 'tcp' | 'udp';
  /** How names and tags are written; without it names are as they are. */
  readonly naming?: Naming;
}

/** Statistics to a StatsD server. One that is away, slow or back again costs a warning, no count. */
export function createStatsd({ registry, logger }: StatsdDeps, options: StatsdOptions): PushOutput {
  const sink = options.protocol === 'tcp' ? createTcpSink(options) : createUdpSink(options);
  const changes = createChanges(registry);
  const { naming = createPlainNaming() } = options;
  const toLines = (change: Change) => statsdLines(change, naming);
  return createPushOutput({ changes, sink, toLines, logger }, options);
}
