import type { Writable } from 'node:stream';
import { logfmtValue } from '../platform/logger';
import {
  createPushOutput,
  type FlushOptions,
  type Line,
  type PushOutput,
  type Sink,
  createChanges,
  type Change,
} from './push-output';
import { countOf, quantile, type Sample } from './histogram';
import type { Naming } from './names';
import type { Registry } from './registry';

export interface StatsLogDeps {
  readonly registry: Registry;
  /** Standard output. It stays open. */
  readonly out: Writable;
  readonly now: () => Date;
  readonly naming: Naming;
}

/** Statistics as lines of text on a stream (`USE_STATSD=false`). */
export function createStatsLog(
  { registry, out, now, naming }: StatsLogDeps,
  options: FlushOptions,
): PushOutput {
  const toLines = createLogLines(now, naming);
  return createPushOutput(
    { changes: createChanges(registry), sink: createStreamSink(out), toLines },
    options,
  );
}

/** The part of a line after the name; undefined for an unchanged gauge. */
type Describe = (change: Change) => string | undefined;

/**
 * One line for each changed statistic, in the shape of the text log: `time="…" type=counter
 * name=ratelimit.service.config_load_success delta=1 total=4`.
 */
function createLogLines(now: () => Date, naming: Naming): (change: Change) => Iterable<Line> {
  const describe = createDescribe();
  return (change) => {
    const values = describe(change);
    if (values === undefined) return [];
    const time = logfmtValue(now().toISOString());
    const name = logfmtValue(naming(change.name).name);
    const text = `time=${time} type=${change.kind} name=${name} ${values}`;
    return [{ text, change }];
  };
}

function createDescribe(): Describe {
  const gauges = new Map<string, number>();
  return (change) => {
    switch (change.kind) {
      case 'counter':
        return `delta=${change.delta.toString()} total=${change.total.toString()}`;
      case 'gauge':
        if (gauges.get(change.name) === change.value) return undefined;
        gauges.set(change.name, change.value);
        return `value=${change.value.toString()}`;
      case 'timer':
        return describeTimer(change.samples);
    }
  };
}

function describeTimer(samples: readonly Sample[]): string {
  const at = (share: number) => Number(quantile(samples, share).toPrecision(4)).toString();
  const count = countOf(samples).toString();
  return `count=${count} p50=${at(0.5)} p90=${at(0.9)} p99=${at(0.99)} max=${at(1)}`;
}

const MAX_BYTES = 16 * 1024;

/** Writes to a stream that stays open; a broken pipe ends only the flush. */
function createStreamSink(out: Writable): Sink {
  const ignore = () => undefined;
  out.on('error', ignore);
  return {
    name: 'standard output',
    maxBytes: MAX_BYTES,
    send: (lines, signal) =>
      new Promise((resolve, reject) => {
        const aborted = () => {
          reject(new Error('the flush was cancelled'));
        };
        signal.addEventListener('abort', aborted);
        out.write(`${lines}\n`, (error) => {
          signal.removeEventListener('abort', aborted);
          if (error) reject(error);
          else resolve();
        });
      }),
    endFlush: ignore,
    close() {
      out.off('error', ignore);
    },
  };
}
