import { map, type Observable } from 'rxjs';
import { createStreamGroup } from '../../../streams';
import { StoreError } from '../../core/errors';
import type {
  Clock,
  CounterBatch,
  CounterReply,
  Counters,
  ReadyCounters,
  Statistics,
} from '../../core/ports';
import { once } from '../once';
import {
  splitCharges,
  toSend,
  withOwn,
  type RestCharge,
  type SplitCharges,
  joinReply,
  learnCount,
} from './split-charges';
import { LeaseCounts } from './hit-lease';
import type { LeasePlace } from './lease-table';
import { Leases, type LeaseOptions, type LeaseReading, RoundTrips } from './leases';
import {
  settleOwn,
  type OwnOperation,
  IDLE_TIMES,
  MAX_RETURNS,
  SWEEPS,
  takeIdle,
} from './own-operations';

export interface LeasingDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** Emits once after this time. */
  readonly wait: (milliseconds: number) => Observable<unknown>;
  readonly statistics?: Pick<Statistics, 'count' | 'gauge'>;
  /** Called once, with the first batch that may be leased. */
  readonly onFirst?: (() => void) | undefined;
}

export interface LeasingOptions extends LeaseOptions {
  /**
   * The store answers all increments of a batch together: the leases' own operations are sent separately, so that no caller waits
   * for them.
   */
  readonly sendsApart: boolean;
}

/** The store that leases are charged to. */
export interface LeasedStore {
  /** Counts for rules without leases. */
  readonly plain: Counters;
  /** Counts everything else: the same store, after a cache of counters that are over their limit. */
  readonly counters: Counters;
}

/** Hits that are charged in advance and spent later. */
export interface Leasing {
  /**
   * Counters that answer leased hits at once, without a promise, and never above the limit, because the store has been charged
   * before. Everything else goes to the store and waits for no refill.
   */
  readonly before: (store: LeasedStore) => ReadyCounters;
  /** Ends the leases of counters that were reset or set. Undefined: all. */
  readonly forgetLeases: (keys: readonly string[] | undefined) => void;
  readonly readLease: (place: LeasePlace) => LeaseReading | undefined;
  /** Returns idle leases, while it is subscribed to; subscribe once. Completes after `close`. */
  readonly run$: Observable<never>;
}

export function createLeasing(deps: LeasingDeps, options: LeasingOptions): Leasing {
  const { statistics } = deps;
  const roundTrips = new RoundTrips();
  const counts = new LeaseCounts(statistics);
  const leases = new Leases({ roundTrips, counts }, options);
  const sweeps = createStreamGroup();
  return {
    run$: sweeps.run$,
    before: (store) => lease(store, { leases, roundTrips, counts, sweeps }, deps, options),
    forgetLeases: (keys) => {
      leases.forget(keys);
    },
    readLease: (place) => leases.read(place),
  };
}

/** What leasing remembers. */
interface Leased {
  readonly leases: Leases;
  readonly roundTrips: RoundTrips;
  readonly counts: LeaseCounts;
  /** The waits for the next return of idle leases. */
  readonly sweeps: ReturnType<typeof createStreamGroup>;
}

function lease(
  { plain, counters }: LeasedStore,
  { leases, roundTrips, counts, sweeps }: Leased,
  { clock, monotonicMs, wait, statistics, onFirst }: LeasingDeps,
  options: LeasingOptions,
): ReadyCounters {
  let removeGauge: (() => void) | undefined;
  // Until a rule is leased, nothing shows that this is possible.
  const begin = once(() => {
    removeGauge = statistics?.gauge('ratelimit.leases.active', () => leases.active);
    onFirst?.();
  });
  const sweepMs = options.timeMs / SWEEPS;
  const idleMs = IDLE_TIMES * options.timeMs - sweepMs;
  let isSweeping = false;
  let isClosed = false;
  /** Number of own operations without a reply yet. */
  let onTheirWay = 0;
  let resolveIdle: () => void = () => undefined;

  const sendAll = async (batch: CounterBatch): Promise<CounterReply | StoreError> => {
    const startedMs = monotonicMs();
    try {
      const reply = await counters.add(batch);
      const nowMs = monotonicMs();
      roundTrips.note(nowMs - startedMs, nowMs);
      return reply;
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  };

  const arrive = (
    own: readonly OwnOperation[],
    reply: CounterReply | StoreError,
    first: number,
  ): void => {
    for (let at = 0; at < own.length; at += 1)
      settleOwn(own[at] as OwnOperation, reply, first + at, counts);
    onTheirWay -= own.length;
    if (onTheirWay === 0) resolveIdle();
  };

  /** No caller waits for these: every outcome is handled here. */
  const sendOwn = async (
    own: readonly OwnOperation[],
    { nowSeconds }: Pick<CounterBatch, 'nowSeconds'>,
  ): Promise<void> => {
    if (own.length === 0) return;
    onTheirWay += own.length;
    let reply: CounterReply | StoreError = UNKNOWN;
    try {
      reply = await sendAll(withOwn({ increments: [], groupEnds: undefined, nowSeconds }, own));
    } catch {
      // An internal error: like an unknown outcome, it grants nothing.
    } finally {
      arrive(own, reply, 0);
    }
  };

  const sweep = (): void => {
    isSweeping = false;
    const nowSeconds = clock();
    const idle = takeIdle(leases.table, counts, { nowSeconds, nowMs: monotonicMs(), idleMs });
    void sendOwn(idle, { nowSeconds });
    counts.flush();
    startSweeping(idle.length === MAX_RETURNS ? MORE_RETURNS_MS : sweepMs);
  };
  const startSweeping = (afterMs: number): void => {
    if (isSweeping || isClosed || leases.table.size === 0) return;
    isSweeping = true;
    sweeps.add(wait(afterMs).pipe(map(sweep)));
  };

  /** All at once: a store that hangs costs one time-out for all of them, not one for each. */
  const returnAll = async (): Promise<void> => {
    const nowSeconds = clock();
    const all = { nowSeconds, nowMs: monotonicMs(), idleMs: 0 };
    const sent: Promise<void>[] = [];
    let returns: readonly OwnOperation[];
    do {
      returns = takeIdle(leases.table, counts, all);
      sent.push(sendOwn(returns, all));
    } while (returns.length === MAX_RETURNS);
    await Promise.all(sent);
  };

  const addRest = async (batch: CounterBatch, split: SplitCharges): Promise<CounterReply> => {
    if (options.sendsApart) void sendOwn(split.own, batch);
    const own = options.sendsApart ? NO_ASKS : split.own;
    const part = toSend(batch, split);
    onTheirWay += own.length;
    let reply: CounterReply | StoreError = UNKNOWN;
    try {
      reply = await sendAll(own.length === 0 ? part : withOwn(part, own));
      return joinReply(split, part, reply, counts);
    } finally {
      // After the rest, which the store has counted before.
      arrive(own, reply, part.increments.length);
    }
  };

  /** For a batch that goes to the store unchanged. */
  const addWhole = async (batch: CounterBatch, split: SplitCharges): Promise<CounterReply> => {
    const reply = await sendAll(batch);
    if (reply instanceof StoreError) throw reply;
    for (const rest of split.rests) learnCount(rest, reply);
    return reply;
  };

  const addLeased = (batch: CounterBatch): CounterReply | Promise<CounterReply> => {
    begin();
    const split = splitCharges(batch, leases, monotonicMs());
    const { answered, after, leased, own, rests } = split;
    startSweeping(sweepMs);
    if (answered === 0 && rests.length === 0) return counters.add(batch);
    if (answered === 0 && own.length === 0 && rests.every(isWhole)) return addWhole(batch, split);
    if (answered < batch.increments.length) return addRest(batch, split);
    if (own.length > 0) void sendOwn(own, batch);
    return { after, held: undefined, failures: undefined, leased };
  };

  return {
    add: (batch) =>
      !isClosed && batch.increments.some(isLeased) ? addLeased(batch) : plain.add(batch),
    async close() {
      isClosed = true;
      sweeps.close();
      if (onTheirWay > 0) await new Promise<void>((resolve) => (resolveIdle = resolve));
      await returnAll();
      leases.forget(undefined);
      counts.flush();
      removeGauge?.();
      await counters.close();
    },
  };
}

const NO_ASKS: readonly OwnOperation[] = [];

/** Milliseconds until the next sweep when one had more to return than it may. */
const MORE_RETURNS_MS = 5;

/** The reply to own operations where the store threw something else than a StoreError. */
const UNKNOWN = new StoreError('store_unavailable', 'the counter store failed');

function isLeased({ rule }: CounterBatch['increments'][number]): boolean {
  return rule.isLeased === true;
}

/** No part of it was leased. */
function isWhole({ spent }: RestCharge): boolean {
  return spent === 0;
}
