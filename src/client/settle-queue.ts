import { RateLimiterError } from './errors';

/** The service's own maximum of open reservations per counter. */
const MAX_WAITING = 100_000;
/** Concurrent settles beside other calls: the service accepts 1,024 per connection. */
const MAX_SENT = 200;
const MAX_STREAMS = 1_024;

interface Waiting<T> {
  readonly item: T;
  readonly done: (error: RateLimiterError | undefined) => void;
}

export interface SettleQueueDeps<T> {
  /** Sends one, and resolves to its failure, if any. Never rejects. */
  readonly send: (item: T) => Promise<RateLimiterError | undefined>;
  /** Other calls in flight on the connection. */
  readonly otherCalls: () => number;
}

/** A queue of settles: no request waits for them, and they must not be lost. */
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
    // A queue that is never empty must not keep sent items.
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
    /** Resolves to undefined when the service has accepted it, else to the failure. */
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
