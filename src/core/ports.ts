import type { PolicyOptions } from './decision/policy-headers';
import type { Failure, StoreError } from './errors';
import type { Operation, Reading, State } from './kinds/kind';
import type { Decision, DecisionRequest, Entry } from './model';
import type { LimitsFromRule, RuleLimit, ValueLimit } from './rules/rules';

/** The answer to a request, given exactly once. */
export type Answer = Decision | Failure;

/**
 * Takes answers: a connection, an HTTP call. `answer` must not throw and must not call back into the requests; one that writes to a
 * socket gathers all answers of a turn first.
 */
export interface Responder {
  /** Returns whether the caller was still waiting. */
  answer(callId: number, answer: Answer): boolean;
  /** Whether the caller of an open call has cancelled it, not by its deadline: its request is dropped. Missing: unknown. */
  hasLeft?(callId: number): boolean;
}

/** One request and how to answer it. The call id is the responder's own number for it (a stream id). */
export interface PendingRequest {
  readonly request: DecisionRequest;
  readonly responder: Responder;
  readonly callId: number;
  /** For a traced call; almost no call is traced. */
  readonly trace?: CallTrace | undefined;
  /** The limits that its answer reports, instead of those of the settings; undefined: as the settings say. */
  readonly policies?: PolicyOptions | undefined;
}

/** One change of one counter. Several of a batch may name the same key; they apply in order. */
export interface Increment extends Operation {
  /** The complete counter key, window start included (behaviour.md §3.4). */
  readonly key: string;
  /** Hits allowed in the window (uint32). */
  readonly limit: number;
  /** Time to live that a new counter gets, in seconds: the window plus the jitter. */
  readonly ttlSeconds: number;
  /** The limit that matched, of a rule or of the request. */
  readonly rule: RuleLimit;
  /**
   * The matched path with the values of the first request that shares this increment; a limit of a request has the counter's name
   * as its only value. They belong to the request: copy what outlives the batch.
   */
  readonly entries: readonly Entry[];
  /** `entries` with tokens in place of secret values, as in `key`; undefined when the rules have no secret keys. */
  readonly shown?: readonly Entry[] | undefined;
  /** The answer needs the store's own count after these hits: a store that answers before it adds must wait. */
  readonly isExact?: boolean | undefined;
}

/** All counter changes of a batch of requests. */
export interface CounterBatch {
  readonly increments: readonly Increment[];
  /**
   * Undefined: every increment is independent. Otherwise the end (exclusive) of each request's run of increments: when one of a run
   * would exceed its limit, only such increments are added and the others are held back (behaviour.md §3.6), atomically for the
   * run.
   */
  readonly groupEnds: readonly number[] | undefined;
  /** The time of the decision, Unix seconds (with fraction). */
  readonly nowSeconds: number;
}

/** The result of a batch; every list runs parallel to its increments. */
export interface CounterReply {
  /** The counter after the increment; for one that was held back, the current counter. */
  readonly after: readonly number[];
  /** Which increments were held back; undefined when none was. */
  readonly held: readonly boolean[] | undefined;
  /** Increments that failed alone (a key of another type, an unreachable node); undefined when none did. */
  readonly failures: ReadonlyMap<number, StoreError> | undefined;
  /**
   * Increments known to be over their limit without a store call: nothing was added, and their `after` is meaningless; undefined
   * when there are none.
   */
  readonly knownOverLimit?: readonly boolean[] | undefined;
  /** The counters of kinds that read first, before their charges; undefined when the batch has none. `after` is meaningless for those. */
  readonly states?: readonly (State | undefined)[] | undefined;
  /** Increments answered by leased hits, without the store; undefined when there are none. */
  readonly leased?: readonly boolean[] | undefined;
}

/** The reading of an increment's counter in a reply. */
export function readingOf(
  { limiter, rule }: Increment,
  { after, states }: CounterReply,
  index: number,
): Reading {
  const state = states?.[index];
  if (state !== undefined) return state;
  if (limiter.kind.readsFirst)
    throw new Error(`the store does not support the algorithm of the rule ${rule.metric}`);
  return after[index] as number;
}

/** A counter store. The contract suite in `test/contract` is its specification. */
export interface Counters {
  /**
   * Applies a batch in order, at most once. Rejects with a StoreError when no part of it is known to be applied; settles within the
   * store's time-out, even when the store hangs.
   */
  add(batch: CounterBatch): Promise<CounterReply>;
  /** Refuses new batches, lets pending ones settle, then disconnects. Safe to call twice. */
  close(): Promise<void>;
}

/** Counters that may answer a whole batch from memory: then without a promise. */
export interface ReadyCounters extends Omit<Counters, 'add'> {
  /** See `Counters`. */
  add(batch: CounterBatch): CounterReply | Promise<CounterReply>;
}

/** Limits of single values, which are stored outside of the rules. */
export interface LimitsFrom {
  /** Never waits: undefined for a value without a limit, and while its limit is unknown. */
  limitOf(rule: LimitsFromRule, value: string): ValueLimit | undefined;
  /** Reads the limit of one value now, for operators. Never rejects: if the read fails, the known limit stays. */
  read(rule: LimitsFromRule, value: string): Promise<void>;
}

/** The identity of a counter. */
export type CounterPlace = Pick<Increment, 'key' | 'windowEndSeconds' | 'rule'>;

/** One counter at the time of the read. */
export interface CounterReading {
  /** 0 for a missing counter. */
  readonly count: number;
  /** The state of a record; undefined: `count` is all there is. */
  readonly state?: State | undefined;
  /** Undefined: the counter is missing, or its store does not report it. */
  readonly expiresInSeconds: number | undefined;
  /** When the first lease of its open reservations expires, milliseconds since 1970; undefined: none is open. */
  readonly firstEndMs?: number | undefined;
  /** Where it is stored: `Redis at r1:6379 (slot 1234)`. */
  readonly store: string;
  /** Why it could not be read; `count` is meaningless then. */
  readonly error?: StoreError | undefined;
}

/** Reads counters for operators. */
export interface CounterReader {
  /** One reading for each counter, in order. Changes and counts nothing; never rejects. */
  read(places: readonly CounterPlace[]): Promise<readonly CounterReading[]>;
}

/** An open reservation, as operators see it. */
export interface ListedReservation {
  readonly id: string;
  /** Reserved hits. */
  readonly hits: number;
  /** Until its lease is over. */
  readonly endsInMs: number;
}

/**
 * The open reservations of one counter with unexpired leases, the first to expire first, at most `most`. Changes nothing; rejects
 * with a StoreError.
 */
export type ListOpen = (place: CounterPlace, most: number) => Promise<readonly ListedReservation[]>;

/** Changes counters for operators. */
export interface CounterWriter {
  /**
   * Deletes counters; returns for each, in order, why that failed, or undefined. Never rejects. Open reservations stay, unless
   * `withOpen` ends them too, uncharged.
   */
  remove(
    counters: readonly Increment[],
    options?: { readonly withOpen: boolean },
  ): Promise<readonly (StoreError | undefined)[]>;
  /**
   * Sets counters to a number of hits, with their own or a new counter's time to live; returns as `remove`. For a rule with several
   * limits it sets all, or the one with this name; other limits and blocks stay.
   */
  set(
    counters: readonly Increment[],
    used: number,
    nowSeconds: number,
    limit?: string,
  ): Promise<readonly (StoreError | undefined)[]>;
}

/** Counts for statistics. Names are complete (`ratelimit.service.…`) and already clean. */
export interface Statistics {
  /** Adds to a counter. */
  count(name: string, by: number): void;
  /** Records `times` occurrences that all took `milliseconds`. */
  time(name: string, milliseconds: number, times: number): void;
  /** Registers a gauge that is read at each flush; the returned function removes it. */
  gauge(name: string, read: () => number): () => void;
}

/** The time of day, in Unix seconds with fraction. */
export type Clock = () => number;
/** A number in [0, 1). */
export type Random = () => number;

/** The header fields of a call, names in lower case; the lists run parallel. */
export interface CallHeaders {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** For a header field whose values differ in every call, but mostly mean the same. */
export interface HeaderPlaceholder {
  readonly name: string;
  /** A string that means the same as the value `bytes[0, length)`; undefined: no string but the value itself does. */
  readonly placeholderFor: (bytes: Uint8Array, length: number) => string | undefined;
}

/** What the spans of a transport's calls share; one object per transport. */
export interface CallKind {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The attribute for the status of an answer. */
  readonly statusAttribute: string;
  readonly statusOf: (answer: Answer) => number;
}

/** A traced call. It ends with the decision of its request. */
export interface CallTrace {
  /** Ends a call that did not become a request. */
  refused(failure: Failure): void;
  /** The id of its trace, 32 hexadecimal digits. */
  traceId(): string;
}

/** Decides which calls are traced. */
export interface CallTracer {
  /** The header fields that `start` reads: a transport may drop others. */
  readonly headerNames: readonly string[];
  /** A transport may skip decoding this field where a placeholder exists. */
  readonly placeholder: HeaderPlaceholder;
  /** Starts the trace of a call; undefined: it is not traced. */
  start(kind: CallKind, headers: CallHeaders): CallTrace | undefined;
}

/** Follows the batches with traced calls. */
export interface BatchTracer {
  /** Begins a batch; undefined when none of its requests is traced. */
  begin(pendingRequests: readonly PendingRequest[]): BatchTrace | undefined;
}

/** The life of a batch; the methods are called in this order. */
export interface BatchTrace {
  /** The rules are matched; `increments` go to the store. */
  matched(increments: number): void;
  /** The store has answered or failed; not called when there was nothing to count. */
  counted(reply: CounterReply | StoreError): void;
  /**
   * Every request has its answer; the lists run parallel to the requests. `leased`: the number of descriptors of each request that
   * leased hits answered; undefined: none.
   */
  answered(answers: readonly Answer[], leased?: readonly number[]): void;
}
