import {
  createSpanQueue,
  SLICE,
  type SpanBatch,
  type SpanQueueOptions,
} from '../../../src/tracing/span-queue';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const OPTIONS = { queueSize: 10, batchSize: 4, delayMs: 100, exportTimeoutMs: 1_000 };

/** A queue whose records are numbers; an export holds them as octets. */
function start(
  options: Partial<SpanQueueOptions> = {},
  bytesOf: (record: number) => number = () => 1,
) {
  const sent: SpanBatch[] = [];
  const dones: (() => void)[] = [];
  let encoded: number[] = [];
  let isClosed = false;
  let dropped = 0;
  const queue = createSpanQueue<number>(
    {
      sizeOf: bytesOf,
      encode: (record) => encoded.push(record),
      take() {
        const request = Uint8Array.from(encoded);
        encoded = [];
        return request;
      },
      onEncode: () => undefined,
      exporter: {
        send(batch, done) {
          sent.push(batch);
          dones.push(done);
        },
        close() {
          isClosed = true;
          return Promise.resolve();
        },
      },
      onDropped: () => (dropped += 1),
    },
    { ...OPTIONS, ...options },
  );
  return {
    queue,
    add: (from: number, to: number) => {
      for (let record = from; record < to; record++) queue.add(record);
    },
    batches: () => sent.map(({ request }) => [...request]),
    counts: () => sent.map(({ spans }) => spans),
    /** The oldest export that is under way ends. */
    endExport: () => dones.shift()?.(),
    encoded: () => encoded.length,
    dropped: () => dropped,
    isClosed: () => isClosed,
  };
}

function pass(ms: number): void {
  jest.advanceTimersByTime(ms);
}

describe('createSpanQueue', () => {
  it('sends what waits after the delay', () => {
    const { add, batches } = start();
    add(0, 2);
    pass(99);
    expect(batches()).toEqual([]);
    pass(2);
    expect(batches()).toEqual([[0, 1]]);
  });

  it('sends a full batch soon, but encodes nothing while the span is added', () => {
    const { add, batches, encoded } = start();
    add(0, 5);
    expect([batches(), encoded()]).toEqual([[], 0]);
    pass(1);
    expect(batches()).toEqual([[0, 1, 2, 3]]);
  });

  it('has one export under way, and sends the next when it ended', () => {
    const { add, batches, endExport } = start();
    add(0, 9);
    pass(500);
    expect(batches()).toHaveLength(1);
    endExport();
    pass(1);
    expect(batches()).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    endExport();
    pass(50);
    expect(batches()).toHaveLength(2);
    pass(51);
    expect(batches()[2]).toEqual([8]);
  });

  it('waits for no export longer than it may take, and lets it end late', () => {
    const { add, batches, endExport } = start();
    add(0, 8);
    pass(1);
    pass(999);
    expect(batches()).toHaveLength(1);
    pass(2);
    expect(batches()).toHaveLength(2);
    endExport();
    add(8, 12);
    pass(1);
    expect(batches()).toHaveLength(2);
    endExport();
    pass(1);
    expect(batches()).toHaveLength(3);
  });

  it('drops and counts what comes while the queue is full', () => {
    const { add, batches, dropped, endExport } = start();
    add(0, 4);
    pass(1);
    add(4, 20);
    endExport();
    expect(dropped()).toBe(6);
    pass(1);
    expect(batches()[1]).toEqual([4, 5, 6, 7]);
    add(20, 25);
    endExport();
    pass(1);
    endExport();
    pass(1);
    expect(batches().slice(2)).toEqual([
      [8, 9, 10, 11],
      [12, 13, 20, 21],
    ]);
    expect(dropped()).toBe(7);
  });

  it('drops and counts what has no room in bytes, and has room again after an export', () => {
    const { add, batches, dropped, endExport } = start({}, (record) =>
      record === 1 ? 9_000 : 700,
    );
    add(0, 5);
    expect(dropped()).toBe(3);
    pass(101);
    expect(batches()).toEqual([[0, 1]]);
    endExport();
    add(2, 6);
    pass(1);
    expect([batches()[1], dropped()]).toEqual([[2, 3, 4, 5], 3]);
  });

  it('keeps a batch size of one', () => {
    const { add, batches } = start({ queueSize: 1, batchSize: 1 });
    add(0, 3);
    pass(1);
    expect(batches()).toEqual([[0]]);
  });

  it('encodes a large batch in slices, between which others have their turn', () => {
    const { add, counts, encoded } = start({ queueSize: 1_000, batchSize: 2 * SLICE + 1 });
    const seen: number[] = [];
    add(0, 2 * SLICE + 1);
    const look = () => {
      seen.push(encoded());
      if (counts().length === 0) setImmediate(look);
    };
    look();
    pass(10);
    expect(seen).toEqual(expect.arrayContaining([SLICE, 2 * SLICE]));
    expect(counts()).toEqual([2 * SLICE + 1]);
  });

  it('sends all that waits when it is closed, also what is half encoded, and nothing after', async () => {
    const { queue, add, counts, isClosed, dropped } = start({ queueSize: 1_000, batchSize: 300 });
    add(0, 700);
    jest.advanceTimersToNextTimer();
    await queue.close();
    expect(counts()).toEqual([300, 300, 100]);
    add(0, 1);
    pass(5_000);
    expect(counts()).toHaveLength(3);
    expect([isClosed(), dropped()]).toEqual([true, 1]);
  });
});
