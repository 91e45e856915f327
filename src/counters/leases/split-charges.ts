import type { CounterBatch, Increment } from '../../core/ports';
import { pick, type SubBatch } from '../../core/batches/sub-batch';
import type { HitLease } from './hit-lease';
import type { Leases } from './leases';
import { toIncrement, type OwnOperation } from './own-operations';

/** A charge to a leased counter that goes to the store, whole or the rest that its lease did not cover. */
export interface RestCharge {
  /** Its index in the batch. */
  readonly place: number;
  readonly lease: HitLease;
  /** Its own limit: a reload may change the lease's before the store answers. */
  readonly limit: number;
  /** Its hits that the lease covered. */
  readonly spent: number;
  /** Its hits that go to the store. */
  readonly rest: number;
}

/** Spends leased hits on a batch. */
export function splitCharges(
  { increments }: CounterBatch,
  leases: Leases,
  nowMs: number,
): SplitCharges {
  const draft = new SplitCharges();
  for (let place = 0; place < increments.length; place += 1) {
    const increment = increments[place] as Increment;
    const counter = leases.find(increment, nowMs);
    if (counter === undefined) continue;
    const lease = leases.leaseOf(counter, increment, nowMs);
    draft.addOwn(leases.takeReturn(lease, increment));
    const hits = increment.hits as number;
    const spent = hits < 0 ? -lease.takeBack(-hits) : lease.spend(hits);
    if (hits > 0) draft.addOwn(leases.nextRefill(counter, lease, nowMs));
    const isAnswered = hits === 0 ? lease.unspent > 0 : spent === hits;
    if (isAnswered) draft.answer(place, lease, increments.length);
    else draft.rests.push({ place, lease, limit: increment.limit, spent, rest: hits - spent });
    if (isAnswered && hits > 0) leases.counts.spent += hits;
  }
  return draft;
}

/** The part of a batch that is decided without the store. */
export class SplitCharges {
  /** Counters after the increments that a lease answers; parallel to the batch. */
  readonly after: number[] = [];
  /** Which those are; undefined: none. */
  leased: boolean[] | undefined;
  /** Their number. */
  answered = 0;
  /** Increments for the store whose counters are leased; in order. */
  readonly rests: RestCharge[] = [];
  /** The leases' own operations. */
  readonly own: OwnOperation[] = [];

  answer(place: number, lease: HitLease, size: number): void {
    this.after[place] = lease.after;
    (this.leased ??= new Array<boolean>(size).fill(false))[place] = true;
    this.answered += 1;
  }

  addOwn(own: OwnOperation | undefined): void {
    if (own !== undefined) this.own.push(own);
  }
}

/** The part of a batch for the store: what no lease answers, then the leases' own operations. */
export function toSend(batch: CounterBatch, { leased, rests }: SplitCharges): SubBatch {
  let { increments } = batch;
  if (rests.some(({ spent }) => spent !== 0)) {
    const changed = [...increments];
    for (const { place, rest } of rests)
      changed[place] = { ...(changed[place] as Increment), hits: rest };
    increments = changed;
  }
  return pick({ ...batch, increments }, (_, place) => leased?.[place] !== true);
}

/** The part, and then the leases' own operations, each a run of its own. */
export function withOwn(part: CounterBatch, own: readonly OwnOperation[]): CounterBatch {
  const { increments, groupEnds, nowSeconds } = part;
  const ends = groupEnds && [...groupEnds, ...own.map((_, at) => increments.length + at + 1)];
  return { increments: [...increments, ...own.map(toIncrement)], groupEnds: ends, nowSeconds };
}
