/** Encoded spans on their way to the collector. */
export interface SpanBatch {
  /** An ExportTraceServiceRequest. */
  readonly request: Uint8Array;
  readonly spans: number;
}

/** Sends batches to the collector. */
export interface SpanExporter {
  /** `done` is called when the batch was delivered or lost. */
  send(batch: SpanBatch, done: () => void): void;
  /** Settles when everything sent was delivered or lost. */
  close(): Promise<void>;
}

interface SpanQueueDeps<R> {
  /** Bytes that a record keeps alive. */
  readonly sizeOf: (record: R) => number;
  /** Encodes one span; `take` returns all since the last call. */
  readonly encode: (record: R) => void;
  readonly take: () => Uint8Array;
  /** Called before many spans are encoded. */
  readonly onEncode: () => void;
  readonly exporter: SpanExporter;
  /** Called for each dropped span. */
  readonly onDropped: () => void;
}

export interface SpanQueueOptions {
  /** Queued spans, of `SPAN_BYTES` on average; more are dropped. */
  readonly queueSize: number;
  /** Spans per export, at most `queueSize`. */
  readonly batchSize: number;
  /** The longest wait of a span for its export, while exports succeed. */
  readonly delayMs: number;
  /** Time limit of an export. */
  readonly exportTimeoutMs: number;
}

/** Room in the queue per span; most need half of it. */
const SPAN_BYTES = 1_024;

/** Spans encoded per slice, some tenths of a millisecond; then decisions have their turn. */
export const SLICE = 256;

/** The queue of exports, one of which runs at a time. */
export function createSpanQueue<R>(
  { sizeOf, encode, take, onEncode, exporter, onDropped }: SpanQueueDeps<R>,
  { queueSize, batchSize, delayMs, exportTimeoutMs }: SpanQueueOptions,
) {
  const maxBytes = queueSize * SPAN_BYTES;
  let waiting: R[] = [];
  let waitingBytes = 0;
  /** The rest of the current export that is not encoded yet. */
  let batch: readonly R[] = [];
  let encoded = 0;
  let isExporting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const encodeUpTo = (end: number) => {
    for (; encoded < end; encoded++) encode(batch[encoded] as R);
  };

  const send = (done: () => void) => {
    const spans = batch.length;
    batch = [];
    exporter.send({ request: take(), spans }, done);
  };

  const begin = () => {
    clearTimeout(timer);
    timer = undefined;
    isExporting = true;
    // Requests in progress get their answers first.
    setImmediate(() => {
      nextBatch();
      encodeSlices();
    });
  };
  const nextBatch = () => {
    onEncode();
    encoded = 0;
    if (waiting.length <= batchSize) {
      batch = waiting;
      waiting = [];
    } else batch = waiting.splice(0, batchSize);
    for (const record of batch) waitingBytes -= sizeOf(record);
  };
  const encodeSlices = () => {
    // Closed meanwhile: then it was sent already.
    if (isClosed) return;
    encodeUpTo(Math.min(encoded + SLICE, batch.length));
    if (encoded < batch.length) setImmediate(encodeSlices);
    else sendWatched();
  };
  const sendWatched = () => {
    let late: NodeJS.Timeout | undefined = undefined;
    const done = () => {
      if (late === undefined) return;
      clearTimeout(late);
      late = undefined;
      isExporting = false;
      if (waiting.length > 0) schedule();
    };
    late = setTimeout(done, exportTimeoutMs).unref();
    send(done);
  };
  const schedule = () => {
    if (isExporting || isClosed) return;
    if (waiting.length >= batchSize) begin();
    else timer ??= setTimeout(begin, delayMs).unref();
  };

  return {
    /** Queues a record for one span; drops it without room. */
    add: (record: R) => {
      const size = sizeOf(record);
      if (isClosed || waiting.length >= queueSize || waitingBytes + size > maxBytes) {
        onDropped();
        return;
      }
      waiting.push(record);
      waitingBytes += size;
      schedule();
    },
    /** Sends the queue and settles when it was delivered or lost; later records are dropped. */
    async close() {
      isClosed = true;
      clearTimeout(timer);
      while (batch.length > 0 || waiting.length > 0) {
        if (batch.length === 0) nextBatch();
        encodeUpTo(batch.length);
        send(() => undefined);
      }
      await exporter.close();
    },
  };
}
