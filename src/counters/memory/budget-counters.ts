import { advanceBudget, NO_LAPSES, unusedBudget, type Moment } from '../../core/budgets/advance';
import { MAX_LAPSES, type Budget, type BudgetGate } from '../../core/budgets/budget';
import { charge } from '../../core/budgets/commit';
import { refusalOfOne } from '../../core/budgets/refusing';
import { changedState } from '../../core/budgets/states';
import { underBudget } from '../../core/budgets/stored';
import { usedOfNearest, withUsed } from '../../core/budgets/used';
import { lifetimeMs } from '../../core/kinds/gate';
import type { BudgetState, Reservation } from '../../core/kinds/kind';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import { findOver } from '../find-over';
import { toKeptKey } from '../kept-key';
import { USAGE_QUARTILES, usageQuartileOf } from './counter-slots';
import { keptBudget, writeOver, type KeptBudget } from './kept-budget';
import { EndingCounters, type EndingCounter } from './ending-counters';
import { bytesOfReservation, OpenReservations, type OpenReservation } from './open-reservations';
import type { MakeRoom, OverCounter } from './window-counters';

/** Bytes that V8 takes for a counter besides the characters of its key and its parts, measured. */
const COUNTER_BYTES = 640;

/** The same for each of its limits and for each of its blocks, whose states are objects. */
const LIMIT_BYTES = 100;
const BLOCK_BYTES = 160;

interface BudgetCounter extends EndingCounter<BudgetCounter> {
  gate: BudgetGate;
  readonly kept: KeptBudget;
  readonly open: OpenReservations;
  /** What its limits and blocks take. */
  partBytes: number;
}

/** Where a counter stands, and the leases that are over. */
interface Found {
  readonly state: BudgetState;
  readonly lapses: readonly OpenReservation[];
}

/** What a counter is set to; `at`: the place of one limit alone. */
interface SetTo {
  readonly used: number;
  readonly at: number | undefined;
}

/** The counters of rules with budgets, and their open reservations: each takes the room of a key. */
export class BudgetCounters {
  readonly kept = new EndingCounters<BudgetCounter>(COUNTER_BYTES, ({ open, partBytes }) => {
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

  /** Where a counter stands now, its leases that are over included. */
  look(increment: Increment, { budget }: BudgetGate, nowSeconds: number): BudgetState {
    return find(
      this.kept.find(toKeptKey(increment.key)),
      budget,
      momentAt(nowSeconds),
      increment.reservation,
    ).state;
  }

  /** Where the counter stood before the asks of the increment; undefined: no room for it or its reservation, nothing happened. */
  apply(increment: Increment, gate: BudgetGate, nowSeconds: number): BudgetState | undefined {
    const { reservation } = increment;
    const key = toKeptKey(increment.key);
    const known = this.kept.find(key);
    const moment = momentAt(nowSeconds);
    const { state, lapses } = find(known, gate.budget, moment, reservation);
    const after = gate.kind.commit(increment, state) ?? state;
    if (after === state && lapses.length === 0) {
      if (known !== undefined) this.#meet(known, reservation, false);
      return state;
    }
    const opened = after.open > state.open ? reservation?.id : undefined;
    const counter = this.#holdRoom(known, key, gate, opened);
    if (counter === undefined) return undefined;
    this.#putUnder(counter, gate);
    for (const one of lapses) this.#end(counter, one);
    if (opened === undefined) this.#meet(counter, reservation, after.open < state.open);
    else this.#open(counter, opened, after.held - state.held, moment);
    this.#keep(counter, after, nowSeconds);
    return state;
  }

  /** Hits in use under the nearest limit, where the counter stands, and the seconds for which it is kept; undefined: there is none. */
  read({ key }: Pick<Increment, 'key'>, gate: BudgetGate, nowSeconds: number) {
    const counter = this.kept.find(toKeptKey(key));
    if (counter === undefined) return undefined;
    const { state } = find(counter, gate.budget, momentAt(nowSeconds), undefined);
    const value = usedOfNearest(gate.budget, state);
    const [first] = this.listOpen({ key }, nowSeconds, 1);
    const ttlSeconds = counter.endSeconds - nowSeconds;
    return { value, state, ttlSeconds, firstEndMs: first?.endMs };
  }

  /** Open reservations of a counter whose leases last, the first to end first, up to a number. */
  listOpen(
    { key }: Pick<Increment, 'key'>,
    nowSeconds: number,
    most: number,
  ): readonly OpenReservation[] {
    return this.kept.find(toKeptKey(key))?.open.lasting(Math.round(nowSeconds * 1_000), most) ?? [];
  }

  /** Ends what is counted and blocked; open reservations stay, unless they are to end too (budgets.md section 9). */
  remove({ key }: Pick<Increment, 'key'>, withOpen = false): void {
    const counter = this.kept.find(toKeptKey(key));
    if (counter === undefined) return;
    if (withOpen || counter.open.size === 0) this.kept.remove(counter);
    else {
      const { atMicros, held, open } = counter.kept;
      const { budget } = counter.gate;
      const unused = unusedBudget(budget, { micros: atMicros, nowSeconds: atMicros / 1_000_000 });
      writeOver(counter.kept, changedState(unused, { held, open }));
    }
  }

  /** Lets a counter stand at so many hits under each limit, or under the one at a place; false: no room for a new one. */
  set(increment: Increment, gate: BudgetGate, { used, at }: SetTo, nowSeconds: number): boolean {
    const { budget } = gate;
    const key = toKeptKey(increment.key);
    const known = this.kept.find(key);
    const moment = momentAt(nowSeconds);
    const { state, lapses } = find(known, budget, moment, undefined);
    const { held, open } = state;
    const after =
      at === undefined
        ? changedState(charge(budget, unusedBudget(budget, moment), used), { held, open })
        : withUsed(budget, state, at, used);
    if (known === undefined && isUnused(after)) return true;
    const counter = this.#holdRoom(known, key, gate, undefined);
    if (counter === undefined) return false;
    this.#putUnder(counter, gate);
    for (const one of lapses) this.#end(counter, one);
    this.#keep(counter, after, nowSeconds);
    return true;
  }

  /** Counters that refuse one hit now, or one reservation where they take these, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    return findOver(this.kept.all(), most, (counter) => {
      if (counter.usageQuartile < USAGE_QUARTILES) return undefined;
      const { key, gate } = counter;
      const { state } = find(counter, gate.budget, momentAt(nowSeconds), undefined);
      const second = Math.floor(nowSeconds);
      const refused = refusalOfOne(gate, state, second);
      if (refused === undefined) return undefined;
      const { limit, used, resetSeconds } = refused;
      return { key, limit, count: used, windowEndSeconds: second + resetSeconds };
    });
  }

  /** The counter, with room for it and for one reservation more; undefined: there is none. */
  #holdRoom(
    known: BudgetCounter | undefined,
    key: string,
    gate: BudgetGate,
    id: string | undefined,
  ): BudgetCounter | undefined {
    const { slots } = this.kept;
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

  #open(counter: BudgetCounter, id: string, hits: number, { micros }: Moment): void {
    const { leaseMs = 0 } = counter.gate.budget.reserve ?? {};
    counter.open.open(id, hits, leaseMs, Math.floor(micros / 1_000));
    this.openKeys += 1;
    this.partBytes += bytesOfReservation(id);
  }

  #meet(counter: BudgetCounter, reservation: Reservation | undefined, isEnded: boolean): void {
    const one = reservation && counter.open.get(reservation.id);
    if (one === undefined) return;
    if (isEnded) this.#end(counter, one);
    else if (reservation?.mode === 'reserve') one.isMet = true;
  }

  #end(counter: BudgetCounter, one: OpenReservation): void {
    counter.open.end(one);
    this.#give(one);
  }

  #give({ id }: OpenReservation): void {
    this.openKeys -= 1;
    this.partBytes -= bytesOfReservation(id);
  }

  #keep(counter: BudgetCounter, after: BudgetState, nowSeconds: number): void {
    const { open, gate } = counter;
    if (open.size === 0 && isUnused(after)) {
      this.kept.remove(counter);
      return;
    }
    writeOver(counter.kept, after);
    counter.endSeconds =
      open.size === 0 ? endOf(gate, after, nowSeconds) : endOfHeld(counter, nowSeconds);
    const { size } = gate;
    const free = Math.max(0, gate.kind.free(gate, after));
    const quartile =
      open.size > 0 ? USAGE_QUARTILES : usageQuartileOf(size - Math.min(size, free), size);
    this.kept.keep(counter, quartile, nowSeconds);
  }

  #add(key: string, gate: BudgetGate): BudgetCounter {
    const counter: BudgetCounter = {
      key,
      gate,
      kept: keptBudget(unusedBudget(gate.budget, momentAt(0))),
      open: new OpenReservations(),
      partBytes: bytesOfParts(gate),
      endSeconds: 0,
      slot: undefined,
      usageQuartile: 0,
      previous: undefined,
      next: undefined,
    };
    this.kept.add(counter);
    this.partBytes += counter.partBytes;
    return counter;
  }

  /** A reload may have given its rule other limits. */
  #putUnder(counter: BudgetCounter, gate: BudgetGate): void {
    if (counter.gate === gate) return;
    counter.gate = gate;
    const bytes = bytesOfParts(gate);
    this.partBytes += bytes - counter.partBytes;
    counter.partBytes = bytes;
  }
}

function endOf(gate: BudgetGate, state: BudgetState, fromSeconds: number): number {
  return Math.ceil(fromSeconds + lifetimeMs(gate, state) / 1_000);
}

/** What is held may be charged when its lease is over, in the windows of that moment, and is then kept as any charge. */
function endOfHeld({ gate, kept: state, open }: BudgetCounter, nowSeconds: number): number {
  const fromSeconds = Math.max(nowSeconds, open.lastEndMs / 1_000);
  const then = advanceBudget(gate.budget, state, NO_LAPSES, momentAt(fromSeconds));
  return endOf(gate, charge(gate.budget, then, state.held), fromSeconds);
}

function bytesOfParts({ budget: { entries, blocks } }: BudgetGate): number {
  return entries.length * LIMIT_BYTES + blocks.length * BLOCK_BYTES;
}

function find(
  counter: BudgetCounter | undefined,
  budget: Budget,
  moment: Moment,
  reservation: Reservation | undefined,
): Found {
  if (counter === undefined) return { state: unusedBudget(budget, moment), lapses: [] };
  const { open, gate, kept: state } = counter;
  const lapses = open.size === 0 ? [] : open.due(Math.floor(moment.micros / 1_000), MAX_LAPSES);
  const stored = underBudget(budget, { budget: gate.budget, state }, moment);
  const now = advanceBudget(budget, stored, lapses.length === 0 ? NO_LAPSES : lapses, moment);
  if (reservation === undefined) return { state: now, lapses };
  const one = open.get(reservation.id);
  const isOpen =
    one !== undefined && !lapses.includes(one) && !(reservation.mode === 'cancel' && one.isMet);
  return { state: isOpen ? changedState(now, { was: one.hits }) : now, lapses };
}

function isUnused({ entries, blocks }: BudgetState): boolean {
  return (
    entries.every(({ used, previous }) => used === 0 && previous === 0) &&
    blocks.every(({ quietMs }) => quietMs === 0)
  );
}

/** This process has one clock for both. */
function momentAt(nowSeconds: number): Moment {
  return { micros: Math.round(nowSeconds * 1_000) * 1_000, nowSeconds: Math.floor(nowSeconds) };
}
