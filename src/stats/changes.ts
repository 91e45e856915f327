import { BUCKETS, type Sample, samplesSince } from './histogram';
import type { Registry } from './registry';
import type { Counter } from './series';

/** A change of one statistic for a push output. `position` is a timer's index in the registry. */
export type Change =
  | {
      readonly kind: 'counter';
      readonly name: string;
      readonly counter: Counter;
      readonly delta: number;
      readonly total: number;
    }
  | { readonly kind: 'gauge'; readonly name: string; readonly value: number }
  | {
      readonly kind: 'timer';
      readonly name: string;
      readonly position: number;
      readonly samples: readonly Sample[];
    };

/**
 * The changes that one push output has not written yet. Those that it could not send are simply not acknowledged: they are part of
 * the next difference, so that nothing is lost and nothing is queued.
 */
export interface Changes {
  /** To be awaited before `read`; undefined: nothing to wait for. */
  readonly refresh?: (() => Promise<void>) | undefined;
  /** Counters and timers that changed since they were acknowledged, and every gauge. */
  read(): Generator<Change, void>;
  acknowledge(change: Change): void;
}

/** For one output at a time: the counters note what was flushed. */
export function createChanges(registry: Registry): Changes {
  const flushedCounts: Float64Array[] = [];
  registry.keepUntilFlushed();

  function* counters(): Generator<Change, void> {
    for (const [name, counter] of registry.readCounters(isUnflushed)) {
      const { value, flushedValue } = counter;
      yield { kind: 'counter', name, counter, delta: value - flushedValue, total: value };
    }
  }

  function* timers(): Generator<Change, void> {
    let position = 0;
    for (const [name, { counts }] of registry.timers) {
      const samples = samplesSince(counts, flushedCounts[position]);
      if (samples.length > 0) yield { kind: 'timer', name, position, samples };
      position += 1;
    }
  }

  const acknowledgeSamples = (position: number, samples: readonly Sample[]) => {
    const flushed = (flushedCounts[position] ??= new Float64Array(BUCKETS));
    for (const { bucket, times } of samples) flushed[bucket] = (flushed[bucket] as number) + times;
  };

  return {
    refresh: registry.refresh,
    *read() {
      yield* counters();
      for (const [name, value] of registry.readGauges()) yield { kind: 'gauge', name, value };
      yield* timers();
    },
    acknowledge(change) {
      if (change.kind === 'counter') change.counter.flushedValue = change.total;
      if (change.kind === 'timer') acknowledgeSamples(change.position, change.samples);
    },
  };
}

function isUnflushed({ value, flushedValue }: Counter): boolean {
  return value !== flushedValue;
}
