import { UnreadableLine, type LogRecord, type ReadRecord } from './log-record';
import type { SimulateOptions } from './options';
import { ReorderBuffer } from './reorder';

/** A longer line is unreadable: no log of requests has one. */
const MAX_LINE_CHARACTERS = 1_048_576;
const SHOWN_UNREADABLE = 5;

type ReadOptions = Pick<SimulateOptions, 'reorderSeconds' | 'fromSeconds' | 'toSeconds'>;

export function createLineCounts() {
  return {
    read: 0,
    /** Lines that were decided. */
    requests: 0,
    /** Lines from which a map made no descriptor. */
    withoutDescriptors: 0,
    outsideOfTimes: 0,
    /** Lines that were later than `-reorder`, and were moved to the newest time. */
    late: 0,
    unreadable: 0,
    /** The first of these. */
    firstUnreadable: [] as { readonly line: number; readonly reason: string }[],
  };
}

export type LineCounts = ReturnType<typeof createLineCounts>;

/** A log as pieces of text of any length, and the format of its lines. */
export interface Log {
  readonly chunks: AsyncIterable<string>;
  readonly readRecord: ReadRecord;
}

/** Reads a log to its end and emits its requests in the order of their times, one after another. */
export async function readLog(
  { chunks, readRecord }: Log,
  options: ReadOptions,
  counts: LineCounts,
  take: (record: LogRecord) => Promise<void>,
): Promise<void> {
  const waiting = new ReorderBuffer<LogRecord>(options.reorderSeconds);
  const readLine = (line: string) => {
    const record = tryRead(line, readRecord, counts);
    if (record === undefined) return;
    const { timeSeconds } = record;
    if (timeSeconds < options.fromSeconds || timeSeconds >= options.toSeconds) {
      counts.outsideOfTimes += 1;
    } else if (waiting.push(timeSeconds, record)) counts.late += 1;
  };
  const next = (timed: { timeSeconds: number; value: LogRecord }) => {
    const { timeSeconds, value } = timed;
    counts.requests += 1;
    return take(value.timeSeconds === timeSeconds ? value : { ...value, timeSeconds });
  };

  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_CHARACTERS + 1);
    for (const line of lines) readLine(line);
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) await next(at);
  }
  readLine(rest);
  for (let at = waiting.drain(); at !== undefined; at = waiting.drain()) await next(at);
}

function tryRead(line: string, readRecord: ReadRecord, counts: LineCounts): LogRecord | undefined {
  if (line.trim() === '') return undefined;
  counts.read += 1;
  try {
    if (line.length > MAX_LINE_CHARACTERS) throw new UnreadableLine('the line is too long');
    const record = readRecord(line);
    if (record === undefined) counts.withoutDescriptors += 1;
    return record;
  } catch (error) {
    if (!(error instanceof UnreadableLine)) throw error;
    counts.unreadable += 1;
    if (counts.firstUnreadable.length < SHOWN_UNREADABLE) {
      counts.firstUnreadable.push({ line: counts.read, reason: error.message });
    }
    return undefined;
  }
}
