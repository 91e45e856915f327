import { RateLimiterError } from './errors';

/** The service accepts 1,024 per connection. */
const MAX_CALLS = 1_000;

/** The calls in flight of one limiter: their maximal number, and the wait for the last one. */
export function createCalls() {
  let inFlight = 0;
  let isClosed = false;
  let onEmpty: () => void = () => undefined;
  const empty = new Promise<void>((resolve) => {
    onEmpty = resolve;
  });
  const leave = (): void => {
    inFlight -= 1;
    if (isClosed && inFlight === 0) onEmpty();
  };
  return {
    get inFlight() {
      return inFlight;
    },
    get isClosed() {
      return isClosed;
    },
    /** Runs a call; resolves to an error where it may not begin. */
    async run<T>(call: () => Promise<T>): Promise<T | RateLimiterError> {
      if (isClosed) return new RateLimiterError('closed', 'the limiter is closed');
      if (inFlight >= MAX_CALLS)
        return new RateLimiterError(
          'too_many_calls',
          `${String(MAX_CALLS)} calls wait for an answer, expected less`,
        );
      inFlight += 1;
      try {
        return await call();
      } finally {
        leave();
      }
    },
    /** Refuses new calls; resolves when the last one has ended. */
    close(): Promise<void> {
      isClosed = true;
      if (inFlight === 0) onEmpty();
      return empty;
    },
  };
}
