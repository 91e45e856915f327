import { setImmediate as turn } from 'node:timers/promises';
import type { Observable } from 'rxjs';
import { createStopSignal, flushPeriodically, fromTask } from '../../streams';
import type { Histogram, Sample } from './histogram';
import type { Registry } from './registry';
import { type Counter, isFlushed, type Series } from './series';

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
      if (chunk === undefined) continue;
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

/** Undefined: a step. */
function* chunksOf(
  changes: Iterable<Change | undefined>,
  toLines: (change: Change) => Iterable<Line>,
  maxBytes: number,
): Generator<readonly Line[] | undefined, void> {
  let chunk: Line[] = [];
  let bytes = 0;
  for (const change of changes) {
    if (change === undefined) {
      yield undefined;
      continue;
    }
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

/** A change of one statistic for a push output. */
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
      readonly timer: Histogram;
      readonly samples: readonly Sample[];
    };

/**
 * The changes that one push output has not written yet. Those that it could not send are simply not acknowledged: they are part of
 * the next difference, so that nothing is lost and nothing is queued.
 */
export interface Changes {
  /** To be awaited before `read`; undefined: nothing to wait for. */
  readonly refresh?: (() => Promise<void>) | undefined;
  /** Counters and timers that changed since they were acknowledged, and every gauge. Undefined: a step. */
  read(): Generator<Change | undefined, void>;
  acknowledge(change: Change): void;
}

/** For one output at a time: counters and timers note what was flushed. */
export function createChanges(registry: Registry): Changes {
  registry.keepUntilFlushed();
  return {
    refresh: registry.refresh,
    *read() {
      for (const series of registry.readSeries()) {
        if (series === undefined) yield undefined;
        else if (!isFlushed(series)) yield* changesOf(series);
      }
      for (const [name, value] of registry.readGauges()) yield { kind: 'gauge', name, value };
      for (const [name, timer] of registry.timers) {
        const samples = timer.unflushed();
        if (samples.length > 0) yield { kind: 'timer', name, timer, samples };
      }
    },
    acknowledge(change) {
      if (change.kind === 'counter') change.counter.flushedValue = change.total;
      if (change.kind === 'timer') change.timer.flush(change.samples);
    },
  };
}

/** Names are made only for counters that changed. */
function* changesOf(series: Series): Generator<Change, void> {
  const { group, path } = series;
  for (const [index, figure] of group.figures.entries()) {
    const counter = series.at(index);
    if (counter === undefined || counter.value === counter.flushedValue) continue;
    const { value, flushedValue } = counter;
    const name = group.nameOf(path, figure);
    yield { kind: 'counter', name, counter, delta: value - flushedValue, total: value };
  }
}
