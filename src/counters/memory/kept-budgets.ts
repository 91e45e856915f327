import { advanceBudget, NO_LAPSES, unusedBudget, type Moment } from '../../core/budgets/advance';
import type { BudgetLimiter } from '../../core/budgets/budget';
import { chargeHits } from '../../core/budgets/commit';
import { straysUnder, type StoredBudget, type Stray } from '../../core/budgets/stored';
import { lifetimeMs } from '../../core/kinds/limiter';
import type { Reservation } from '../../core/kinds/kind';
import { USAGE_QUARTILES, usageQuartileOf } from './counter-slots';
import type { CounterId } from './counter-table';
import { EndingCounters } from './ending-counters';
import type { KeyReader } from './key-reader';
import { NONE } from './record-pages';
import {
  bytesOfReservation,
  NONE_OPEN,
  OpenReservations,
  type OpenReservation,
} from './open-reservations';
import type { MakeRoom } from './window-counters';
import type { BudgetState, EntryState } from '../../core/kinds/state';

/** Memory that V8 needs per counter besides its record and its parts, measured: 240 bytes of it are the map of its reservations. */
const COUNTER_BYTES = 600;

/** The same per limit and per block, whose states are objects. */
const LIMIT_BYTES = 100;
const BLOCK_BYTES = 160;

export interface BudgetCounter {
  id: CounterId;
  limiter: BudgetLimiter;
  readonly kept: KeptBudget;
  open: OpenReservations;
  /** State of other rules in this counter, see `Stray`. */
  strays: readonly Stray[];
  /** Memory of its limits and blocks. */
  partBytes: number;
}

const NO_STRAYS: readonly Stray[] = [];

/** Counters with budgets and their memory: each open reservation counts as a key. */
export class KeptBudgets {
  readonly counters: EndingCounters;
  readonly #states = new Map<CounterId, BudgetCounter>();
  /** Open reservations of all counters. */
  openKeys = 0;
  /** Memory of them, and of the limits and blocks of all counters. */
  partBytes = 0;
  readonly #makeRoom: MakeRoom;

  constructor(makeRoom: MakeRoom, key: KeyReader) {
    this.#makeRoom = makeRoom;
    this.counters = new EndingCounters({
      numbers: 0,
      key,
      onRemoved: (id) => {
        const { open, partBytes } = this.#states.get(id) as BudgetCounter;
        this.#states.delete(id);
        this.partBytes -= partBytes;
        for (const one of open.all()) this.#give(one);
      },
      onMoved: (from, to) => {
        const counter = this.#states.get(from) as BudgetCounter;
        this.#states.delete(from);
        this.#states.set(to, counter);
        counter.id = to;
      },
    });
  }

  /** An upper bound of the memory of all counters and their open reservations. */
  get bytes(): number {
    return this.counters.table.bytes + this.#states.size * COUNTER_BYTES + this.partBytes;
  }

  find(key: string): BudgetCounter | undefined {
    const id = this.counters.find(key);
    return id === NONE ? undefined : this.#states.get(id);
  }

  all(): IterableIterator<BudgetCounter> {
    return this.#states.values();
  }

  /** The counter, with room for it and for one more reservation; undefined: there is none. */
  holdRoom(
    known: BudgetCounter | undefined,
    key: string,
    limiter: BudgetLimiter,
    id: string | undefined,
  ): BudgetCounter | undefined {
    const { table } = this.counters;
    const bytes =
      known === undefined ? table.bytesOf(key) + COUNTER_BYTES + bytesOfParts(limiter) : 0;
    const needed = bytes + (id === undefined ? 0 : bytesOfReservation(id));
    if (needed === 0 || known === undefined || !this.counters.isFiled(known.id))
      return needed === 0 || this.#makeRoom(needed)
        ? (known ?? this.#add(key, limiter))
        : undefined;
    // Making room must not evict the counter that it is for.
    const usageQuartile = table.list(known.id);
    this.counters.classify(known.id, USAGE_QUARTILES);
    const hasRoom = this.#makeRoom(needed);
    this.counters.classify(known.id, usageQuartile);
    return hasRoom ? known : undefined;
  }

  open(counter: BudgetCounter, id: string, hits: number, { micros }: Moment): void {
    const { leaseMs = 0 } = counter.limiter.budget.reserve ?? {};
    if (counter.open === NONE_OPEN) counter.open = new OpenReservations();
    counter.open.open(id, hits, leaseMs, Math.floor(micros / 1_000));
    this.openKeys += 1;
    this.partBytes += bytesOfReservation(id);
  }

  /** Marks or closes an open reservation for a call with its id: the call ends it, or shows that its caller is still there. */
  meet(counter: BudgetCounter, reservation: Reservation | undefined, isEnded: boolean): void {
    const one = reservation && counter.open.get(reservation.id);
    if (one === undefined) return;
    if (isEnded) this.end(counter, one);
    else if (reservation?.mode === 'reserve') one.isMet = true;
  }

  end(counter: BudgetCounter, one: OpenReservation): void {
    counter.open.end(one);
    this.#give(one);
  }

  /** Stores a counter after its charges, until it expires. */
  keep(counter: BudgetCounter, after: BudgetState, nowSeconds: number): void {
    const { open, limiter } = counter;
    if (open.size === 0 && isUnused(after) && counter.strays.length === 0) {
      this.counters.remove(counter.id);
      return;
    }
    writeOver(counter.kept, after);
    const ownEnd =
      open.size === 0 ? endOf(limiter, after, nowSeconds) : endOfHeld(counter, nowSeconds);
    const lastMs = counter.strays.reduce((most, { endMs }) => Math.max(most, endMs), 0);
    const endSeconds = Math.max(ownEnd, Math.ceil(lastMs / 1_000));
    const { size } = limiter;
    const free = Math.max(0, limiter.kind.free(limiter, after));
    const quartile =
      open.size > 0 ? USAGE_QUARTILES : usageQuartileOf(size - Math.min(size, free), size);
    this.counters.keep(counter.id, endSeconds, quartile, nowSeconds);
  }

  /** A reload may have given its rule other limits, or other limits apply to this request. */
  putUnder(counter: BudgetCounter, limiter: BudgetLimiter, { micros }: Moment): void {
    if (counter.limiter === limiter) return;
    const strays = straysUnder(limiter.budget, storedOf(counter), Math.floor(micros / 1_000));
    if (strays !== counter.strays) leaveEntries(counter.kept);
    counter.strays = strays;
    counter.limiter = limiter;
    const bytes = bytesOfParts(limiter) + counter.strays.length * BLOCK_BYTES;
    this.partBytes += bytes - counter.partBytes;
    counter.partBytes = bytes;
  }

  #give({ id }: OpenReservation): void {
    this.openKeys -= 1;
    this.partBytes -= bytesOfReservation(id);
  }

  #add(key: string, limiter: BudgetLimiter): BudgetCounter {
    const counter: BudgetCounter = {
      id: this.counters.add(key),
      limiter,
      kept: keptBudget(unusedBudget(limiter.budget, momentAt(0))),
      open: NONE_OPEN,
      strays: NO_STRAYS,
      partBytes: bytesOfParts(limiter),
    };
    this.#states.set(counter.id, counter);
    this.partBytes += counter.partBytes;
    return counter;
  }
}

function endOf(limiter: BudgetLimiter, state: BudgetState, fromSeconds: number): number {
  return Math.ceil(fromSeconds + lifetimeMs(limiter, state) / 1_000);
}

/** Reserved hits may be charged when their lease expires, in the windows of that moment, and are then kept like any charge. */
function endOfHeld({ limiter, kept: state, open }: BudgetCounter, nowSeconds: number): number {
  const fromSeconds = Math.max(nowSeconds, open.lastEndMs / 1_000);
  // An expired lease charges all limits, including those resting for this request.
  const { budget } = limiter;
  const entries = budget.entries.map((entry) => ({ ...entry, isResting: false }));
  const then = advanceBudget(budget, state, NO_LAPSES, momentAt(fromSeconds));
  return endOf(limiter, chargeHits({ ...budget, entries }, then, state.held), fromSeconds);
}

export function storedOf({ limiter, kept, strays }: BudgetCounter): StoredBudget {
  return { budget: limiter.budget, state: kept, strays };
}

function bytesOfParts({ budget: { entries, blocks } }: BudgetLimiter): number {
  return entries.length * LIMIT_BYTES + blocks.length * BLOCK_BYTES;
}

/** It is idle, and no refusal is remembered. */
export function isUnused({ entries, blocks }: BudgetState): boolean {
  return (
    entries.every(({ used, previous }) => used === 0 && previous === 0) &&
    blocks.every(({ quietMs }) => quietMs === 0)
  );
}

/** This process has one clock for both. */
export function momentAt(nowSeconds: number): Moment {
  return { micros: Math.round(nowSeconds * 1_000) * 1_000, nowSeconds: Math.floor(nowSeconds) };
}

/**
 * The state of a counter with a budget, in mutable objects of its own: new ones for each charge would outlive it, and the garbage
 * collector would copy them. They must not be handed on.
 */
function keptBudget({ atMicros, entries, blocks, held, open }: BudgetState) {
  return { atMicros, entries: entries.map(keptEntry), blocks, held, open, was: -1, lapsed: 0 };
}

type KeptBudget = ReturnType<typeof keptBudget>;

/** Overwrites it with a state. */
export function writeOver(kept: KeptBudget, state: BudgetState): void {
  const { entries } = state;
  kept.atMicros = state.atMicros;
  kept.blocks = state.blocks;
  kept.held = state.held;
  kept.open = state.open;
  // A reload gave the rule other limits.
  if (kept.entries.length !== entries.length) kept.entries = entries.map(keptEntry);
  else
    for (let at = 0; at < entries.length; at += 1)
      writeEntry(kept.entries[at] as KeptEntry, entries[at] as EntryState);
}

/** Leaves its current limit states to those who hold them: later writes go to new ones. */
function leaveEntries(kept: KeptBudget): void {
  kept.entries = kept.entries.map(keptEntry);
}

function keptEntry({ used, previous, elapsed, endSeconds, ages }: EntryState) {
  return { used, previous, elapsed, endSeconds, ages };
}

type KeptEntry = ReturnType<typeof keptEntry>;

function writeEntry(
  kept: KeptEntry,
  { used, previous, elapsed, endSeconds, ages }: EntryState,
): void {
  kept.used = used;
  kept.previous = previous;
  kept.elapsed = elapsed;
  kept.endSeconds = endSeconds;
  kept.ages = ages;
}
