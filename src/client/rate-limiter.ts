import { createConnection, type Question } from './connection';
import { readDecision, withoutDecision, type RateLimitDecision } from './decision';
import {
  MAX_REQUEST_HITS,
  parseDescriptors,
  parseHits,
  toReservation,
  withHits,
  type DescriptorPairs,
  type DescriptorMessage,
  type Descriptors,
} from './descriptors';
import { RateLimiterError } from './errors';
import { mistake, parseOptions, type RateLimiterOptions } from './options';

/** The service accepts 1,024 per connection. */
const MAX_CALLS = 1_000;

/** The calls in flight of one limiter: their maximal number, and the wait for the last one. */
function createCalls() {
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

export interface RateLimitCallOptions {
  /** Cancels the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface RateLimitCheckOptions extends RateLimitCallOptions {
  /** Hits of each descriptor, 1 to 4,294,967,295; 1 by default. */
  readonly hits?: number;
}

/** The result of a `settle`. */
export interface Settlement {
  /** The service has accepted it. */
  readonly settled: boolean;
  /** Why it has not. */
  readonly error: Error | undefined;
}

/** Calls since the limiter was created. */
export interface RateLimiterStats {
  /** Includes queued settles. */
  readonly inFlight: number;
  /** Decisions of `check`, `reserve` and `quota`. */
  readonly decided: number;
  /** The refused ones among `decided`. */
  readonly refused: number;
  /** Calls of these three without a decision, which got the result of `onError`. */
  readonly failed: number;
  /** Failed settles: the reservation ends with its lease. */
  readonly unsettled: number;
}

/**
 * Calls a decision service. Invalid arguments reject with a TypeError, and aborted calls with the signal's reason; every other
 * failure is answered by `onError`.
 */
export interface RateLimiter {
  /** Counts the hits and answers whether the request may pass. */
  check(descriptors: Descriptors, options?: RateLimitCheckOptions): Promise<RateLimitDecision>;
  /** The remaining hits; charges nothing. */
  quota(descriptors: Descriptors, options?: RateLimitCallOptions): Promise<RateLimitDecision>;
  /**
   * Reserves hits (0 to 2^53 - 1) under an id (1 to 256 bytes), for a rule with `reserve`. A refused reservation holds nothing, and
   * needs no settle: if it was denied without a decision, the service may still hold it, so it is settled with 0 in the background.
   */
  reserve(
    descriptor: DescriptorPairs,
    id: string,
    hits: number,
    options?: RateLimitCallOptions,
  ): Promise<RateLimitDecision>;
  /**
   * Closes a reservation and charges these hits; without hits, the reserved ones. Settles are queued and sent in turn; a failed one
   * is retried once, then counted. Never rejects.
   */
  settle(descriptor: DescriptorPairs, id: string, hits?: number): Promise<Settlement>;
  stats(): RateLimiterStats;
  /** Refuses new calls, waits for those in flight (none outlasts its deadline) and for queued settles, and closes the connection. */
  close(): Promise<void>;
}

/** Holds one connection. Throws a TypeError that names the option, its value and what was expected. */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { target, domain, timeoutMs, settleTimeoutMs, policyOf, tls } = parseOptions(options);
  const connection = createConnection(target, tls);
  const calls = createCalls();
  const counts = { decided: 0, refused: 0, failed: 0, unsettled: 0 };

  const decide = async (
    asked: Omit<Question, 'domain'>,
    hits: number,
    { signal }: RateLimitCallOptions,
  ): Promise<RateLimitDecision> => {
    const question = { domain, ...asked };
    const answer = await calls.run(() => connection.ask(question, { timeoutMs, signal }));
    const decision = answer instanceof RateLimiterError ? answer : readDecision(answer, hits);
    if (decision instanceof RateLimiterError) {
      counts.failed += 1;
      return withoutDecision(decision, policyOf(decision) !== 'deny');
    }
    counts.decided += 1;
    if (!decision.allowed) counts.refused += 1;
    return decision;
  };

  const settleTwice = async (
    descriptor: DescriptorMessage,
  ): Promise<RateLimiterError | undefined> => {
    const question = { domain, descriptors: [descriptor] };
    const terms = { timeoutMs: settleTimeoutMs };
    let answer = await connection.ask(question, terms);
    if (answer instanceof RateLimiterError)
      answer = await connection.ask(question, { ...terms, waitForReady: true });
    return answer instanceof RateLimiterError ? answer : undefined;
  };
  const settlements = createSettleQueue({
    send: settleTwice,
    otherCalls: () => calls.inFlight,
  });
  const settleMessage = async (message: DescriptorMessage): Promise<Settlement> => {
    const error = await settlements.add(message);
    if (error !== undefined) counts.unsettled += 1;
    return { settled: error === undefined, error };
  };

  return {
    async check(asked, checkOptions = {}) {
      const descriptors = parseDescriptors(asked);
      const hits = parseHits(checkOptions.hits ?? 1, 1, MAX_REQUEST_HITS);
      return decide({ descriptors, hitsAddend: hits }, hits, checkOptions);
    },
    async quota(asked, callOptions = {}) {
      const descriptors = parseDescriptors(asked).map((message) => withHits(message, 0));
      return decide({ descriptors }, 0, callOptions);
    },
    async reserve(descriptor, id, hits, callOptions = {}) {
      if ((hits as unknown) === undefined) throw mistake('hits', hits, 'a whole number from 0');
      const message = toReservation(descriptor, 'reserve', id, hits);
      const letGo = toReservation(descriptor, 'settle', id, 0);
      let mayBeHeld = true;
      try {
        const decision = await decide({ descriptors: [message] }, hits, callOptions);
        mayBeHeld = !decision.allowed && decision.error !== undefined && wasSent(decision.error);
        return decision;
      } finally {
        // The service itself notices an aborted call.
        if (mayBeHeld && callOptions.signal?.aborted !== true) void settleMessage(letGo);
      }
    },
    async settle(descriptor, id, hits) {
      try {
        const message = toReservation(descriptor, 'settle', id, hits);
        if (calls.isClosed) throw new RateLimiterError('closed', 'the limiter is closed');
        return await settleMessage(message);
      } catch (error) {
        counts.unsettled += 1;
        return { settled: false, error: error as Error };
      }
    },
    stats: () => ({ ...counts, inFlight: calls.inFlight + settlements.size }),
    async close() {
      await calls.close();
      await settlements.close();
      connection.close();
    },
  };
}

/** Whether the service may have it: it does not have calls that were never sent or that it refused. */
function wasSent({ code }: RateLimiterError): boolean {
  return !['closed', 'too_many_calls', 'invalid_request'].includes(code);
}

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
function createSettleQueue<T>({ send, otherCalls }: SettleQueueDeps<T>) {
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
