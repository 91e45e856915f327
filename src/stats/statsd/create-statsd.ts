import { type Change, createChanges } from '../changes';
import type { Naming } from '../naming';
import { createPushOutput, type FlushOptions, type PushOutput } from '../push-output';
import type { Registry } from '../registry';
import { statsdLines } from './lines';
import { createTcpSink, createUdpSink, type StatsdTarget } from './sinks';

export interface StatsdOptions extends FlushOptions, StatsdTarget {
  readonly protocol: 'tcp' | 'udp';
  /** How names and tags are written. */
  readonly naming: Naming;
}

/** Statistics to a StatsD server. One that is away or slow costs no count. */
export function createStatsd(registry: Registry, options: StatsdOptions): PushOutput {
  const sink = options.protocol === 'tcp' ? createTcpSink(options) : createUdpSink(options);
  const toLines = (change: Change) => statsdLines(change, options.naming);
  return createPushOutput({ changes: createChanges(registry), sink, toLines }, options);
}
