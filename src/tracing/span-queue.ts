import type { SpanWriter } from '../wire/otlp/span-writer';

/** Encoded spans on their way to the collector. */
export interface SpanBatch {
  /** An ExportTraceServiceRequest. */
  readonly request: Uint8Array;
  readonly spans: number;
}

/** Sends batches to the collector. */
export interface SpanExporter {
  /** `done` is called when the batch arrived or is lost. */
  send(batch: SpanBatch, done: () => void): void;
  /** Settles when what was sent arrived or is lost. */
  close(): Promise<void>;
}

/** Spans that wait for their export, encoded; one export runs at a time. */
export interface SpanQueue {
  /** Where one span is to be written, at once; undefined: there is no room, the span is dropped. */
  next(): SpanWriter | undefined;
  /** Sends what waits and settles when it arrived or is lost; further spans are dropped. */
  close(): Promise<void>;
}

interface SpanQueueDeps {
  readonly writer: SpanWriter;
  readonly exporter: SpanExporter;
  /** Told before and after exports, of a batch of dropped spans. */
  readonly onDropped: (spans: number) => void;
}

export interface SpanQueueOptions {
  /** Spans that wait; more are dropped. */
  readonly queueSize: number;
  /** Spans of one export, at most `queueSize`. */
  readonly batchSize: number;
  /** The longest wait of a span for its export, while exports get through. */
  readonly delayMs: number;
  /** Nobody waits longer for the end of an export. */
  readonly exportTimeoutMs: number;
}

export function createSpanQueue(
  { writer, exporter, onDropped }: SpanQueueDeps,
  { queueSize, batchSize, delayMs, exportTimeoutMs }: SpanQueueOptions,
): SpanQueue {
  const full: SpanBatch[] = [];
  let isExporting = false;
  let isClosed = false;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  const waiting = () => full.length * batchSize + writer.spans;

  const takeBatch = (): SpanBatch => {
    const { spans } = writer;
    return full.shift() ?? { spans, request: writer.take() };
  };

  const reportDropped = () => {
    if (dropped > 0) onDropped(dropped);
    dropped = 0;
  };

  const exportNext = () => {
    reportDropped();
    isExporting = !isClosed && waiting() > 0;
    if (!isExporting) return;
    let late: NodeJS.Timeout | undefined = undefined;
    const done = () => {
      if (late === undefined) return;
      clearTimeout(late);
      late = undefined;
      reportDropped();
      isExporting = false;
      if (waiting() > 0) schedule(waiting());
    };
    late = setTimeout(done, exportTimeoutMs).unref();
    exporter.send(takeBatch(), done);
  };

  /** A full batch goes as soon as those who are served now have their answers. */
  const schedule = (spans: number) => {
    if (isExporting || isClosed) return;
    if (spans < batchSize) {
      timer ??= setTimeout(begin, delayMs).unref();
    } else {
      begin();
    }
  };
  const begin = () => {
    clearTimeout(timer);
    timer = undefined;
    isExporting = true;
    setImmediate(exportNext);
  };

  return {
    next() {
      if (writer.spans === batchSize) full.push(takeBatch());
      const spans = waiting();
      if (isClosed || spans >= queueSize) {
        dropped += 1;
        return undefined;
      }
      schedule(spans + 1);
      return writer;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      reportDropped();
      while (waiting() > 0) exporter.send(takeBatch(), () => undefined);
      await exporter.close();
    },
  };
}
