import { type StoreError } from '../../core/errors';

/** One command that waits for its reply, which ends with a line that is no value. */
export interface Exchange {
  onValue?(key: string, data: string): void;
  onLine(line: string): void;
  /** The connection was lost before the reply was complete. */
  onLost(error: StoreError): void;
}

/** The commands of one connection that wait, in order, watched by one timer: that of the oldest. */
export interface Exchanges {
  readonly size: number;
  readonly oldest: Exchange | undefined;
  push(exchange: Exchange): void;
  /** The oldest, whose reply is complete. */
  shift(): Exchange | undefined;
  /** Empties it and stops the watch; each is told. */
  failAll(error: StoreError): void;
}

export interface ExchangesDeps {
  readonly monotonicMs: () => number;
  /** The oldest has waited for `timeoutMs`. */
  readonly onTimeout: () => void;
}

interface Waiting {
  readonly exchange: Exchange;
  readonly startedMs: number;
}

/** Places at the front that are empty before the list is made shorter. */
const COMPACT_AT = 1_024;

export function createExchanges(deps: ExchangesDeps, timeoutMs: number): Exchanges {
  const { monotonicMs, onTimeout } = deps;
  let waiting: Waiting[] = [];
  let first = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const watch = (delayMs: number): void => {
    timer = setTimeout(check, delayMs, lookAgain).unref();
  };
  // Replies that came while this process was busy lie unread in the socket; they go first.
  const lookAgain = (): void => {
    setImmediate(check, onTimeout);
  };
  const check = (onLate: () => void): void => {
    timer = undefined;
    const oldest = waiting[first];
    if (isStopped || oldest === undefined) return;
    const leftMs = oldest.startedMs + timeoutMs - monotonicMs();
    if (leftMs > 0) watch(Math.ceil(leftMs));
    else onLate();
  };

  return {
    get size() {
      return waiting.length - first;
    },
    get oldest() {
      return waiting[first]?.exchange;
    },
    push(exchange) {
      waiting.push({ exchange, startedMs: monotonicMs() });
      if (timer === undefined && !isStopped) watch(timeoutMs);
    },
    shift() {
      const { exchange } = waiting[first] ?? {};
      if (exchange === undefined) return undefined;
      first += 1;
      if (first === waiting.length) {
        waiting = [];
        first = 0;
      } else if (first >= COMPACT_AT) {
        waiting = waiting.slice(first);
        first = 0;
      }
      return exchange;
    },
    failAll(error) {
      isStopped = true;
      clearTimeout(timer);
      const all = waiting.slice(first);
      waiting = [];
      first = 0;
      for (const { exchange } of all) exchange.onLost(error);
    },
  };
}
