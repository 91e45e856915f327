import { setImmediate as turn } from 'node:timers/promises';
import type { Observable } from 'rxjs';
import { createStopSignal, flushPeriodically, fromTask } from '../../streams';
import type { Change, Changes } from './changes';

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
