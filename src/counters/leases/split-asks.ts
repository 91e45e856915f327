import type { CounterBatch, Increment } from '../../core/ports';
import { pick, type SubBatch } from '../../core/batches/sub-batch';
import type { HitLease } from './hit-lease';
import type { Leases } from './leases';
import { toIncrement, type OwnAsk } from './own-asks';

/** An ask of a warm counter that goes to the store, in whole or what is left of it. */
export interface RestAsk {
  /** In the batch. */
  readonly place: number;
  readonly lease: HitLease;
  /** Its own: a reload may change that of the lease before the store answers. */
  readonly limit: number;
  /** Hits of it that the lease had. */
  readonly spent: number;
  /** Hits that the store is asked for. */
  readonly rest: number;
}

/** Spends what is on lease. */
export function splitAsks({ increments }: CounterBatch, leases: Leases, nowMs: number): SplitAsks {
  const draft = new SplitAsks();
  for (let place = 0; place < increments.length; place += 1) {
    const increment = increments[place] as Increment;
    const counter = leases.find(increment, nowMs);
    if (counter === undefined) continue;
    const lease = leases.leaseOf(counter, increment, nowMs);
    draft.ask(leases.takeReturn(lease, increment));
    const hits = increment.hits as number;
    const spent = hits < 0 ? -lease.takeBack(-hits) : lease.spend(hits);
    if (hits > 0) draft.ask(leases.nextRefill(counter, lease, nowMs));
    const isAnswered = hits === 0 ? lease.unspent > 0 : spent === hits;
    if (isAnswered) draft.answer(place, lease, increments.length);
    else draft.rests.push({ place, lease, limit: increment.limit, spent, rest: hits - spent });
    if (isAnswered && hits > 0) leases.counts.spent += hits;
  }
  return draft;
}

/** What of a batch is decided without the store. */
export class SplitAsks {
  /** Where the counters stand of those that a lease answers; parallel to the batch. */
  readonly after: number[] = [];
  /** Which those are; undefined: none. */
  leased: boolean[] | undefined;
  /** How many they are. */
  answered = 0;
  /** Of those that go to the store, the warm ones; in order. */
  readonly rests: RestAsk[] = [];
  /** What leases ask for themselves. */
  readonly own: OwnAsk[] = [];

  answer(place: number, lease: HitLease, size: number): void {
    this.after[place] = lease.after;
    (this.leased ??= new Array<boolean>(size).fill(false))[place] = true;
    this.answered += 1;
  }

  ask(own: OwnAsk | undefined): void {
    if (own !== undefined) this.own.push(own);
  }
}

/** What the store is asked of a batch: what no lease answers, then what leases ask for themselves. */
export function toSend(batch: CounterBatch, { leased, rests }: SplitAsks): SubBatch {
  let { increments } = batch;
  if (rests.some(({ spent }) => spent !== 0)) {
    const changed = [...increments];
    for (const { place, rest } of rests)
      changed[place] = { ...(changed[place] as Increment), hits: rest };
    increments = changed;
  }
  return pick({ ...batch, increments }, (_, place) => leased?.[place] !== true);
}

/** The same and then own asks, each a run of its own. */
export function withOwn(part: CounterBatch, own: readonly OwnAsk[]): CounterBatch {
  const { increments, groupEnds, nowSeconds } = part;
  const ends = groupEnds && [...groupEnds, ...own.map((_, at) => increments.length + at + 1)];
  return { increments: [...increments, ...own.map(toIncrement)], groupEnds: ends, nowSeconds };
}
