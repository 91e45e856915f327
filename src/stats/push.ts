import { setImmediate as turn } from 'node:timers/promises';
import type { Change, Changes } from './changes';
import type { Sink } from './sink';

/** A line of output and the change, or the part of one, that it tells. */
export interface Line {
  readonly text: string;
  readonly change: Change;
}

/** How a flush went. What an error kept from leaving comes with the next one. */
export interface Flush {
  readonly lines: number;
  readonly error: Error | undefined;
}

export interface PushDeps {
  readonly changes: Changes;
  readonly sink: Sink;
  /** The lines of a change; they may tell it in parts. */
  readonly toLines: (change: Change) => Iterable<Line>;
}

/**
 * Writes what changed, one chunk at a time: the next is made when the sink has taken the one before,
 * so that a slow reader costs neither memory nor time. Never rejects.
 */
export async function push(
  { changes, sink, toLines }: PushDeps,
  signal: AbortSignal,
): Promise<Flush> {
  let lines = 0;
  try {
    for (const chunk of chunksOf(changes.read(), toLines, sink.maxBytes)) {
      // Decisions have their turn between two chunks, and a sink hears that its connection has ended.
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
    sink.rest();
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
