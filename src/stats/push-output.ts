import { setImmediate as turn } from 'node:timers/promises';
import type { Observable } from 'rxjs';
import { createStopSignal, flushPeriodically, fromTask } from '../../streams';
import { BUCKETS, type Sample, samplesSince } from './histogram';
import type { Registry } from './registry';
import type { Counter } from './series';

/** Statistics that are written at an interval. */
export interface PushOutput {
  /** The destination, for messages: `tcp://localhost:8125`. */
  readonly target: string;
  /** Flushes at every interval and once more at the end, then completes. Never fails. */
  readonly run$: Observable<Flush>;
  /** Requests the last flush and the end of `run$`. Safe to call twice. */
  readonly close: () => void;
}

export interface FlushOptions {
  readonly flushIntervalMs: number;
  /** The last flush gives up this many milliseconds after `close`. */
  readonly lastFlushWithinMs: number;
}

/** The destination of a push output. One `send` at a time. */
export interface Sink {
  /** The destination, for messages: `tcp://localhost:8125`. */
  readonly name: string;
  /** Maximum of bytes per `send`; a longer single line comes alone. */
  readonly maxBytes: number;
  /**
   * Sends lines, joined by newlines, none at the end. Resolves once they are accepted, rejects when they are not or when the signal
   * aborts; the next `send` starts afresh.
   */
  send(lines: string, signal: AbortSignal): Promise<void>;
  /** The end of a flush: closes what is reopened for each. */
  endFlush(): void;
  close(): void;
}

/** A line of output and the change, or the part of a change, that it reports. */
export interface Line {
  readonly text: string;
  readonly change: Change;
}

/** The result of a flush. Changes that an error kept back come with the next flush. */
export interface Flush {
  readonly lines: number;
  readonly error: Error | undefined;
}

export interface PushDeps {
  readonly changes: Changes;
  readonly sink: Sink;
  /** The lines of a change; each may report a part of it. */
  readonly toLines: (change: Change) => Iterable<Line>;
}

/** The output that writes to `sink`. */
export function createPushOutput(
  deps: PushDeps,
  { flushIntervalMs, lastFlushWithinMs }: FlushOptions,
): PushOutput {
  const { sink } = deps;
  const stopSignal = createStopSignal();
  return {
    target: sink.name,
    run$: flushPeriodically({
      everyMs: flushIntervalMs,
      life$: stopSignal.stopped$,
      flush: () => fromTask((signal) => push(deps, signal)),
      lastWithinMs: lastFlushWithinMs,
      end: () => {
        sink.close();
      },
    }),
    close: stopSignal.stop,
  };
}

/**
 * Writes the changes, one chunk at a time: the next is made when the sink has accepted the previous one, so that a slow reader
 * costs neither memory nor time. Never rejects.
 */
export async function push(
  { changes, sink, toLines }: PushDeps,
  signal: AbortSignal,
): Promise<Flush> {
  let lines = 0;
  try {
    if (changes.refresh !== undefined) await changes.refresh();
    for (const chunk of chunksOf(changes.read(), toLines, sink.maxBytes)) {
      // Lets decisions run between two chunks, and the sink see that its connection has ended.
      await turn();
      signal.throwIfAborted();
      await sink.send(chunk.map(({ text }) => text).join('\n'), signal);
      for (const { change } of chunk) changes.acknowledge(change);
      lines += chunk.length;
    }
    return { lines, error: undefined };
  } catch (error) {
    return { lines, error: error instanceof Error ? error : new Error(String(error)) };
  } finally {
    sink.endFlush();
  }
}

function* chunksOf(
  changes: Iterable<Change>,
  toLines: (change: Change) => Iterable<Line>,
  maxBytes: number,
): Generator<readonly Line[], void> {
  let chunk: Line[] = [];
  let bytes = 0;
  for (const change of changes) {
    for (const line of toLines(change)) {
      const size = Buffer.byteLength(line.text) + 1;
      if (bytes + size > maxBytes && chunk.length > 0) {
        yield chunk;
        chunk = [];
        bytes = 0;
      }
      chunk.push(line);
      bytes += size;
    }
  }
  if (chunk.length > 0) yield chunk;
}

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
