/** One batch that waits for answers of a connection. */
export interface Exchange {
  readonly weight: number;
  readonly startedMs: number;
}

/** The batches that wait for answers of one connection, watched by one timer: that of the oldest. */
export interface Exchanges {
  readonly size: number;
  /** How many increments wait. */
  readonly weight: number;
  begin(weight: number): Exchange;
  end(exchange: Exchange): void;
  /** Nothing times out any more. */
  stop(): void;
}

export interface ExchangesDeps {
  readonly monotonicMs: () => number;
  /** The oldest exchange has waited for `timeoutMs`. */
  readonly onTimeout: () => void;
  /** The last exchange has ended. */
  readonly onIdle: () => void;
}

export function createExchanges(deps: ExchangesDeps, timeoutMs: number): Exchanges {
  const { monotonicMs, onTimeout, onIdle } = deps;
  const open = new Set<Exchange>();
  let weight = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const watch = (delayMs: number): void => {
    timer = setTimeout(check, delayMs, lookAgain).unref();
  };
  // Answers that came while this process was busy lie unread in the socket; they go first.
  const lookAgain = (): void => {
    setImmediate(check, onTimeout);
  };

  const check = (onLate: () => void): void => {
    timer = undefined;
    if (isStopped) return;
    for (const oldest of open) {
      const leftMs = oldest.startedMs + timeoutMs - monotonicMs();
      if (leftMs > 0) watch(Math.ceil(leftMs));
      else onLate();
      return;
    }
  };

  return {
    get size() {
      return open.size;
    },
    get weight() {
      return weight;
    },
    begin(ofWeight) {
      const exchange = { weight: ofWeight, startedMs: monotonicMs() };
      open.add(exchange);
      weight += ofWeight;
      if (timer === undefined) watch(timeoutMs);
      return exchange;
    },
    end(exchange) {
      open.delete(exchange);
      weight -= exchange.weight;
      if (open.size === 0) onIdle();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
