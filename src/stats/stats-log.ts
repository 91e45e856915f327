import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger/logger';
import { createChanges } from '../changes';
import { createPlainNaming, type Naming } from '../naming';
import { createPushOutput, type FlushOptions, type PushOutput } from '../push-output';
import type { Registry } from '../registry';
import { createLogLines } from './lines';
import { createStreamSink } from './stream-sink';

export interface StatsLogDeps {
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
  /** Standard output. It stays open. */
  readonly out: Writable;
  readonly now: () => Date;
  /** How names are written; without it as they are. */
  readonly naming?: Naming;
}

/** Statistics as lines of text on a stream (`USE_STATSD=false`). */
export function createStatsLog(deps: StatsLogDeps, options: FlushOptions): PushOutput {
  const { registry, logger, out, now, naming = createPlainNaming() } = deps;
  const sink = createStreamSink(out);
  const changes = createChanges(registry);
  return createPushOutput({ changes, sink, toLines: createLogLines(now, naming), logger }, options);
}
