import { RateLimiterError } from './errors';

/** As many as the service keeps open for one counter. */
const MAX_WAITING = 100_000;
/** Sent at once beside other calls: the service takes 1,024 of one connection. */
const MAX_SENT = 200;
const MAX_STREAMS = 1_024;

interface Waiting<T> {
  readonly item: T;
  readonly done: (error: RateLimiterError | undefined) => void;
}

export interface SettleQueueDeps<T> {
  /** Sends one, and answers why it failed. Never rejects. */
  readonly send: (item: T) => Promise<RateLimiterError | undefined>;
  /** Other calls of the connection that wait for an answer. */
  readonly otherCalls: () => number;
}

/** What is to be settled waits here for its turn: no request waits for it, and it must not be lost. */
export function createSettleQueue<T>({ send, otherCalls }: SettleQueueDeps<T>) {
  let waiting: Waiting<T>[] = [];
  let next = 0;
  let sent = 0;
  let isClosing = false;
  let onEmpty: () => void = () => undefined;
  const empty = new Promise<void>((resolve) => {
    onEmpty = resolve;
  });

  const size = () => waiting.length - next + sent;
  const hasRoom = () =>
    sent < (isClosing ? MAX_STREAMS : MAX_SENT) && sent < MAX_STREAMS - otherCalls();
  const sendOne = async ({ item, done }: Waiting<T>): Promise<void> => {
    sent += 1;
    const error = await send(item);
    sent -= 1;
    done(error);
    sendMore();
  };
  const sendMore = (): void => {
    while (next < waiting.length && hasRoom()) void sendOne(waiting[next++] as Waiting<T>);
    // A queue that is never empty must not keep what it has sent.
    if (next === waiting.length || next > MAX_STREAMS + waiting.length / 2) {
      waiting = waiting.slice(next);
      next = 0;
    }
    if (isClosing && size() === 0) onEmpty();
  };

  return {
    get size() {
      return size();
    },
    /** Settles when the service has it, or why it has not. */
    add: (item: T): Promise<RateLimiterError | undefined> =>
      new Promise((done) => {
        if (size() >= MAX_WAITING) {
          const expected = `${String(MAX_WAITING)} reservations wait to be settled, expected less`;
          done(new RateLimiterError('too_many_calls', expected));
          return;
        }
        waiting.push({ item, done });
        sendMore();
      }),
    /** Resolves when all are settled, or have failed. */
    close(): Promise<void> {
      isClosing = true;
      sendMore();
      return empty;
    },
  };
}
