import type { PolicyOptions } from './decision/policy-headers';
import type { Failure, StoreError } from './errors';
import type { Asked, Seen, State } from './kinds/kind';
import type { Decision, DecisionRequest, Entry } from './model';
import type { LimitsFromRule, RuleLimit, ValueLimit } from './rules/rules';

/** What a request gets back, exactly once. */
export type Answer = Decision | Failure;

/**
 * What waits for answers: a connection, an HTTP call. `answer` must not throw and must not
 * call back into the requests; one that writes to a socket gathers all answers of a turn first.
 */
export interface Responder {
  /** Whether somebody still waited for it. */
  answer(callId: number, answer: Answer): boolean;
  /**
   * Whether the caller of a call that is not answered yet has given it up, and not because its time was over: its request goes no
   * further then. Missing: that cannot be told.
   */
  hasLeft?(callId: number): boolean;
}

/** One request and how to answer it. The call id is the responder's own number for it (a stream id). */
export interface PendingRequest {
  readonly request: DecisionRequest;
  readonly responder: Responder;
  readonly callId: number;
  /** Of a call that is traced; nearly no call is. */
  readonly trace?: CallTrace | undefined;
  /** What its answer says of limits, in place of what the settings say for all; undefined: what they say. */
  readonly policies?: PolicyOptions | undefined;
}

/** One change of one counter. Several of a batch may name the same key; they apply in order. */
export interface Increment extends Asked {
  /** The complete counter key, window start included (behaviour.md §3.4). */
  readonly key: string;
  /** Hits allowed in the window (uint32). */
  readonly limit: number;
  /** Time to live that a new counter gets, in seconds: the window plus the jitter. */
  readonly ttlSeconds: number;
  /** The limit that matched, of a rule or of the request. */
  readonly rule: RuleLimit;
  /**
   * The matched path with the values of the first of the requests that share this increment; a limit of a
   * request has the counter's name as its only value. They belong to the request: copy what outlives the batch.
   */
  readonly entries: readonly Entry[];
  /** The same with tokens in place of secret values, as in `key`; undefined when no key of the rules is secret. */
  readonly shown?: readonly Entry[] | undefined;
  /** Its answer has to be the store's own count after these hits: a store that answers before it adds waits for that. */
  readonly isExact?: boolean | undefined;
}

/** All counter changes of a batch of requests. */
export interface CounterBatch {
  readonly increments: readonly Increment[];
  /**
   * Undefined: every increment stands alone. Otherwise the end (exclusive) of each request's run of
   * increments: when one of a run would go over its limit, only those that would are added and the
   * others are held back (behaviour.md §3.6), atomically for the run.
   */
  readonly groupEnds: readonly number[] | undefined;
  /** The time of the decision, Unix seconds (with fraction). */
  readonly nowSeconds: number;
}

/** What became of a batch; every list runs parallel to its increments. */
export interface CounterReply {
  /** The counter after the increment; for one held back, the counter as it stands. */
  readonly after: readonly number[];
  /** Which increments were held back; undefined when none was. */
  readonly held: readonly boolean[] | undefined;
  /** Increments that failed on their own (a key of another type, a node away); undefined when none did. */
  readonly failures: ReadonlyMap<number, StoreError> | undefined;
  /**
   * Increments known to be over their limit without asking: nothing was added, and what `after` says
   * of them means nothing; undefined when there are none.
   */
  readonly knownOverLimit?: readonly boolean[] | undefined;
  /**
   * Where the counters of kinds that look stood before their asks; undefined when the batch has none. `after` means nothing
   * for those.
   */
  readonly states?: readonly (State | undefined)[] | undefined;
  /** Increments that were answered from hits on lease, without the store; undefined when there are none. */
  readonly leased?: readonly boolean[] | undefined;
}

/** What a reply says of the counter of an increment that was asked for. */
export function seenOf(
  { gate, rule }: Increment,
  { after, states }: CounterReply,
  index: number,
): Seen {
  const state = states?.[index];
  if (state !== undefined) return state;
  if (gate.kind.looks)
    throw new Error(`the store does not support the algorithm of the rule ${rule.metric}`);
  return after[index] as number;
}

/** A counter store. The contract suite in `test/contract` says what every one must keep. */
export interface Counters {
  /**
   * Applies a batch in order, at most once. Rejects with a StoreError when nothing of it is known
   * to have been applied; settles within the store's time-out, also when the store hangs.
   */
  add(batch: CounterBatch): Promise<CounterReply>;
  /** Refuses new batches, lets the old ones settle, then disconnects. Safe to call twice. */
  close(): Promise<void>;
}

/** Counters that may know the answer to a whole batch already: it is given without a promise then. */
export interface ReadyCounters extends Omit<Counters, 'add'> {
  /** See `Counters`. */
  add(batch: CounterBatch): CounterReply | Promise<CounterReply>;
}

/** Limits that values have of their own, outside the rules. */
export interface LimitsFrom {
  /** Never waits: undefined for a value that has none, and for one whose limit is not known yet. */
  limitOf(rule: LimitsFromRule, value: string): ValueLimit | undefined;
  /** Reads the limit of one value now, for operators. Never rejects: what is known stays where it cannot be read. */
  read(rule: LimitsFromRule, value: string): Promise<void>;
}

/** Which counter is meant. */
export type CounterPlace = Pick<Increment, 'key' | 'windowEndSeconds' | 'rule'>;

/** One counter as it stands. */
export interface CounterReading {
  /** 0 where there is no counter. */
  readonly count: number;
  /** Where a counter in its own form stands; undefined: it says no more than `count` does. */
  readonly state?: State | undefined;
  /** Undefined: there is no counter, or its store does not say. */
  readonly expiresInSeconds: number | undefined;
  /** The end of the first lease of its open reservations, milliseconds since 1970; undefined: none is open. */
  readonly firstEndMs?: number | undefined;
  /** Where it lies: `Redis at r1:6379 (slot 1234)`. */
  readonly store: string;
  /** Why it could not be read; `count` means nothing then. */
  readonly error?: StoreError | undefined;
}

/** Looks at counters for operators. */
export interface CounterReader {
  /** One reading for each counter, in order. Creates, changes and counts nothing; never rejects. */
  read(places: readonly CounterPlace[]): Promise<readonly CounterReading[]>;
}

/** A reservation that is open, as operators see it. */
export interface ListedReservation {
  readonly id: string;
  /** That it holds. */
  readonly hits: number;
  /** Until its lease is over. */
  readonly endsInMs: number;
}

/**
 * The open reservations of one counter whose leases last, the first to end first, at most so many. Changes nothing; rejects with a
 * StoreError.
 */
export type ListOpen = (place: CounterPlace, most: number) => Promise<readonly ListedReservation[]>;

/** Changes counters for operators. */
export interface CounterWriter {
  /**
   * Deletes counters; for each, in order, why that failed, or undefined. Never rejects. Open reservations stay, unless
   * `withOpen` says that they end too, uncharged.
   */
  remove(
    counters: readonly Increment[],
    options?: { readonly withOpen: boolean },
  ): Promise<readonly (StoreError | undefined)[]>;
  /**
   * Lets counters stand at so many hits, for as long as they lived or a new one would; answers as `remove`. Of a rule with
   * several limits all, or the one that operators call so: the others and its blocks stay as they are.
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

/** For a header field whose values differ in every call, though most of them mean the same. */
export interface HeaderPlaceholder {
  readonly name: string;
  /** A text that means the same as the value `bytes[0, length)`; undefined: only the value itself does. */
  readonly placeholderFor: (bytes: Uint8Array, length: number) => string | undefined;
}

/** What a transport's calls have in common, for their spans; one object per transport. */
export interface CallKind {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The attribute that holds the status of an answer. */
  readonly statusAttribute: string;
  readonly statusOf: (answer: Answer) => number;
}

/** A call that is traced. It ends with the decision of its request. */
export interface CallTrace {
  /** Ends a call that never became a request. */
  refused(failure: Failure): void;
  /** The id of its trace, 32 hexadecimal digits. */
  traceId(): string;
}

/** Says which calls are traced. */
export interface CallTracer {
  /** The header fields that `start` reads: a transport need not keep others. */
  readonly headerNames: readonly string[];
  /** A transport need not make a text of this field where another one stands for it. */
  readonly placeholder: HeaderPlaceholder;
  /** A call came; undefined: it is not traced. */
  start(kind: CallKind, headers: CallHeaders): CallTrace | undefined;
}

/** Follows the batches in which a traced call is. */
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
   * Every request has its answer; the lists run parallel to them. `leased`: how many descriptors of each were answered from
   * hits on lease; undefined: none.
   */
  answered(answers: readonly Answer[], leased?: readonly number[]): void;
}
