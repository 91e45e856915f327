import { advanceBudget, NO_LAPSES, unusedBudget, type Moment } from '../../core/budgets/advance';
import type { BudgetGate } from '../../core/budgets/budget';
import { charge } from '../../core/budgets/commit';
import { straysUnder, type StoredBudget, type Stray } from '../../core/budgets/stored';
import { lifetimeMs } from '../../core/kinds/gate';
import type { BudgetState, Reservation } from '../../core/kinds/kind';
import { USAGE_QUARTILES, usageQuartileOf } from './counter-slots';
import { EndingCounters, type EndingCounter } from './ending-counters';
import { keptBudget, leaveEntries, writeOver, type KeptBudget } from './kept-budget';
import {
  bytesOfReservation,
  NONE_OPEN,
  OpenReservations,
  type OpenReservation,
} from './open-reservations';
import type { MakeRoom } from './window-counters';

/**
 * Bytes that V8 takes for a counter besides the characters of its key and its parts, measured: 240 of them are the map of its
 * reservations, which it has from the first one on.
 */
const COUNTER_BYTES = 640;

/** The same for each of its limits and for each of its blocks, whose states are objects. */
const LIMIT_BYTES = 100;
const BLOCK_BYTES = 160;

export interface BudgetCounter extends EndingCounter<BudgetCounter> {
  gate: BudgetGate;
  readonly kept: KeptBudget;
  open: OpenReservations;
  /** What other rules count there, see `Stray`. */
  strays: readonly Stray[];
  /** What its limits and blocks take. */
  partBytes: number;
}

const NO_STRAYS: readonly Stray[] = [];

/** Counters with budgets as they are kept, and what they take: each of their open reservations the room of a key. */
export class KeptBudgets {
  readonly counters = new EndingCounters<BudgetCounter>(COUNTER_BYTES, ({ open, partBytes }) => {
    this.partBytes -= partBytes;
    for (const one of open.all()) this.#give(one);
  });
  /** Open reservations of all counters. */
  openKeys = 0;
  /** The most that these take, and the limits and blocks of all counters. */
  partBytes = 0;
  readonly #makeRoom: MakeRoom;

  constructor(makeRoom: MakeRoom) {
    this.#makeRoom = makeRoom;
  }

  /** The counter, with room for it and for one reservation more; undefined: there is none. */
  holdRoom(
    known: BudgetCounter | undefined,
    key: string,
    gate: BudgetGate,
    id: string | undefined,
  ): BudgetCounter | undefined {
    const { slots } = this.counters;
    const bytes = known === undefined ? slots.bytesOf(key) + bytesOfParts(gate) : 0;
    const needed = bytes + (id === undefined ? 0 : bytesOfReservation(id));
    if (needed === 0 || known?.slot === undefined)
      return needed === 0 || this.#makeRoom(needed) ? (known ?? this.#add(key, gate)) : undefined;
    // Who makes room must not take the counter that it is for.
    const { slot, usageQuartile } = known;
    slots.classify(slot, known, USAGE_QUARTILES);
    const hasRoom = this.#makeRoom(needed);
    slots.classify(slot, known, usageQuartile);
    return hasRoom ? known : undefined;
  }

  open(counter: BudgetCounter, id: string, hits: number, { micros }: Moment): void {
    const { leaseMs = 0 } = counter.gate.budget.reserve ?? {};
    if (counter.open === NONE_OPEN) counter.open = new OpenReservations();
    counter.open.open(id, hits, leaseMs, Math.floor(micros / 1_000));
    this.openKeys += 1;
    this.partBytes += bytesOfReservation(id);
  }

  /** What a call with a reservation does to an open one: it ends it, or is the call of its caller. */
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

  /** Keeps a counter as it stands after its asks, for as long as it is needed. */
  keep(counter: BudgetCounter, after: BudgetState, nowSeconds: number): void {
    const { open, gate } = counter;
    if (open.size === 0 && isUnused(after) && counter.strays.length === 0) {
      this.counters.remove(counter);
      return;
    }
    writeOver(counter.kept, after);
    const ownEnd =
      open.size === 0 ? endOf(gate, after, nowSeconds) : endOfHeld(counter, nowSeconds);
    const lastMs = counter.strays.reduce((most, { endMs }) => Math.max(most, endMs), 0);
    counter.endSeconds = Math.max(ownEnd, Math.ceil(lastMs / 1_000));
    const { size } = gate;
    const free = Math.max(0, gate.kind.free(gate, after));
    const quartile =
      open.size > 0 ? USAGE_QUARTILES : usageQuartileOf(size - Math.min(size, free), size);
    this.counters.keep(counter, quartile, nowSeconds);
  }

  /** A reload may have given its rule other limits, or a request meets it of which other limits hold. */
  putUnder(counter: BudgetCounter, gate: BudgetGate, { micros }: Moment): void {
    if (counter.gate === gate) return;
    const strays = straysUnder(gate.budget, storedOf(counter), Math.floor(micros / 1_000));
    if (strays !== counter.strays) leaveEntries(counter.kept);
    counter.strays = strays;
    counter.gate = gate;
    const bytes = bytesOfParts(gate) + counter.strays.length * BLOCK_BYTES;
    this.partBytes += bytes - counter.partBytes;
    counter.partBytes = bytes;
  }

  #give({ id }: OpenReservation): void {
    this.openKeys -= 1;
    this.partBytes -= bytesOfReservation(id);
  }

  #add(key: string, gate: BudgetGate): BudgetCounter {
    const counter: BudgetCounter = {
      key,
      gate,
      kept: keptBudget(unusedBudget(gate.budget, momentAt(0))),
      open: NONE_OPEN,
      strays: NO_STRAYS,
      partBytes: bytesOfParts(gate),
      endSeconds: 0,
      slot: undefined,
      usageQuartile: 0,
      previous: undefined,
      next: undefined,
    };
    this.counters.add(counter);
    this.partBytes += counter.partBytes;
    return counter;
  }
}

function endOf(gate: BudgetGate, state: BudgetState, fromSeconds: number): number {
  return Math.ceil(fromSeconds + lifetimeMs(gate, state) / 1_000);
}

/** What is held may be charged when its lease is over, in the windows of that moment, and is then kept as any charge. */
function endOfHeld({ gate, kept: state, open }: BudgetCounter, nowSeconds: number): number {
  const fromSeconds = Math.max(nowSeconds, open.lastEndMs / 1_000);
  // A lease that is over charges all limits, those too that rest for the request at hand.
  const { budget } = gate;
  const entries = budget.entries.map((entry) => ({ ...entry, isResting: false }));
  const then = advanceBudget(budget, state, NO_LAPSES, momentAt(fromSeconds));
  return endOf(gate, charge({ ...budget, entries }, then, state.held), fromSeconds);
}

export function storedOf({ gate, kept, strays }: BudgetCounter): StoredBudget {
  return { budget: gate.budget, state: kept, strays };
}

function bytesOfParts({ budget: { entries, blocks } }: BudgetGate): number {
  return entries.length * LIMIT_BYTES + blocks.length * BLOCK_BYTES;
}

/** Nothing is in use, and no refusal is remembered. */
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
