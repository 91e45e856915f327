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

/** All statistics of a moment, by name. */
export interface StatisticsDump {
  readonly counters: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  readonly timers: Readonly<Record<string, TimerDump>>;
}

/** Every statistic as a value for JSON, names in order. */
export function dumpJson(registry: Registry): StatisticsDump {
  return {
    counters: sortedRecord(new Map(registry.readCounters()), ({ value }) => value),
    gauges: sortedRecord(registry.readGauges(), (value) => value),
    timers: sortedRecord(registry.timers, dumpTimer),
  };
}

/** Every statistic as a line `name: value`, in the order of the names; a timer has one for each figure. */
export function dumpText(registry: Registry): string {
  return [...linesOf(registry)].sort().join('\n');
}

/** The lines of `dumpText`, in the order in which the statistics came to be. */
export function* linesOf(registry: Registry): Generator<string, void> {
  for (const [name, { value }] of registry.readCounters()) yield `${name}: ${value.toString()}`;
  for (const [name, value] of registry.readGauges()) yield `${name}: ${value.toString()}`;
  for (const [name, histogram] of registry.timers) {
    for (const [figure, value] of Object.entries(dumpTimer(histogram))) {
      yield `${name}.${figure}: ${String(value)}`;
    }
  }
}

function dumpTimer({ counts, count, maxMilliseconds }: Histogram): TimerDump {
  const samples = samplesSince(counts, undefined);
  const at = (share: number) => rounded(Math.min(quantile(samples, share), maxMilliseconds));
  return { count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: rounded(maxMilliseconds) };
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toPrecision(4));
}

function sortedRecord<From, To>(
  all: ReadonlyMap<string, From>,
  convert: (value: From) => To,
): Record<string, To> {
  const names = [...all.keys()].sort();
  return Object.fromEntries(names.map((name) => [name, convert(all.get(name) as From)]));
}
