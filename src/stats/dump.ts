import { quantile, samplesSince, type Histogram } from './histogram';
import type { Registry } from './registry';

/** The figures of a timer since the start, in milliseconds; the quantiles are at most 0.5 % off. */
interface TimerDump {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Every statistic as a line `name: value`, in the order in which they came to be; a timer has one for each figure. */
export function* linesOf(registry: Registry): Generator<string, void> {
  for (const [name, { value }] of registry.readCounters()) yield `${name}: ${value.toString()}`;
  for (const [name, value] of registry.readGauges()) yield `${name}: ${value.toString()}`;
  for (const [name, histogram] of registry.timers) {
    for (const [figure, value] of Object.entries(dumpTimer(histogram))) {
      yield `${name}.${figure}: ${String(value)}`;
    }
  }
}

/** A timer since the start. */
export function dumpTimer({ counts, count, maxMilliseconds }: Histogram): TimerDump {
  const samples = samplesSince(counts, undefined);
  const at = (share: number) => rounded(Math.min(quantile(samples, share), maxMilliseconds));
  return { count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: rounded(maxMilliseconds) };
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toPrecision(4));
}
