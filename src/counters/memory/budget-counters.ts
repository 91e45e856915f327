import {
  advanceBudget,
  isAstrayBudget,
  NO_LAPSES,
  unusedBudget,
  type Moment,
} from '../../core/budgets/advance';
import { MAX_LAPSES, type Budget, type BudgetLimiter } from '../../core/budgets/budget';
import { chargeHits } from '../../core/budgets/commit';
import { refusalOfOne } from '../../core/budgets/outcome';
import { changedState } from '../../core/kinds/state';
import { underBudget, usedOfNearest, withUsed } from '../../core/budgets/stored';
import type { BudgetState, Reservation } from '../../core/kinds/kind';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import { findOver } from '../over-entries';
import { toKeptKey } from '../kept-key';
import { USAGE_QUARTILES } from './counter-slots';
import {
  isUnused,
  KeptBudgets,
  momentAt,
  storedOf,
  type BudgetCounter,
  writeOver,
} from './kept-budgets';
import type { OpenReservation, OpenReservations } from './open-reservations';
import type { KeyReader } from './key-reader';
import type { MakeRoom, OverCounter } from './window-counters';

/** A counter's state, and its expired leases. */
interface Found {
  readonly state: BudgetState;
  readonly lapses: readonly OpenReservation[];
}

/** The new usage of a counter; `at`: the index of the only limit to set. */
interface SetTo {
  readonly used: number;
  readonly at: number | undefined;
}

/** Operations on counters with budgets, and on their open reservations. */
export class BudgetCounters {
  readonly kept: KeptBudgets;
  /** Leases that the current batch may still expire, and the number found for each counter, which a second read must repeat. */
  #lapsesLeft = 0;
  readonly #granted = new Map<BudgetCounter, number>();
  readonly #onMended: () => void;

  constructor(makeRoom: MakeRoom, key: KeyReader, onMended: () => void) {
    this.kept = new KeptBudgets(makeRoom, key);
    this.#onMended = onMended;
  }

  /** Begins a batch: it expires a bounded number of leases, however many counters it has. */
  beginBatch(): void {
    this.#lapsesLeft = MAX_LAPSES;
    if (this.#granted.size > 0) this.#granted.clear();
  }

  /** A counter's current state, with its leases expired. */
  currentState(increment: Increment, { budget }: BudgetLimiter, nowSeconds: number): BudgetState {
    const counter = this.kept.find(toKeptKey(increment.key));
    const moment = momentAt(nowSeconds);
    return this.#find(counter, budget, moment, increment.reservation).state;
  }

  /** The counter before the increment's charges; undefined: no room for it or its reservation, nothing was changed. */
  apply(increment: Increment, limiter: BudgetLimiter, nowSeconds: number): BudgetState | undefined {
    const { reservation } = increment;
    const key = toKeptKey(increment.key);
    const known = this.kept.find(key);
    const moment = momentAt(nowSeconds);
    const found = this.#find(known, limiter.budget, moment, reservation);
    const { state } = found;
    const isToWrite = known !== undefined && this.#isToWrite(known, found, moment);
    const after = limiter.kind.commit(increment, state) ?? state;
    if (after === state && !isToWrite) {
      if (known !== undefined) this.kept.meet(known, reservation, false);
      return state;
    }
    const opened = after.open > state.open ? reservation?.id : undefined;
    const counter = this.kept.holdRoom(known, key, limiter, opened);
    if (counter === undefined) return undefined;
    this.#write(counter, limiter, found, moment);
    if (opened === undefined) this.kept.meet(counter, reservation, after.open < state.open);
    else this.kept.open(counter, opened, after.held - state.held, moment);
    this.kept.keep(counter, after, nowSeconds);
    return state;
  }

  /** Whether a counter is written although its charges change nothing: leases have expired, or a wrong clock wrote it. */
  #isToWrite({ limiter, kept, open }: BudgetCounter, { lapses }: Found, moment: Moment): boolean {
    const isOpenMended = open.takeMended();
    const isMended = isAstrayBudget(limiter.budget, kept, moment) || isOpenMended;
    if (isMended) this.#onMended();
    return isMended || lapses.length > 0;
  }

  #write(counter: BudgetCounter, limiter: BudgetLimiter, { lapses }: Found, moment: Moment): void {
    this.kept.putUnder(counter, limiter, moment);
    for (const one of lapses) this.kept.end(counter, one);
    if (lapses.length > 0) this.#granted.set(counter, 0);
  }

  #find(
    counter: BudgetCounter | undefined,
    budget: Budget,
    moment: Moment,
    reservation: Reservation | undefined,
  ): Found {
    const granted = counter && this.#granted.get(counter);
    const found = find(counter, budget, moment, granted ?? this.#lapsesLeft, reservation);
    const { length } = found.lapses;
    if (counter !== undefined && granted === undefined && length > 0) {
      this.#granted.set(counter, length);
      this.#lapsesLeft -= length;
    }
    return found;
  }

  /** Hits in use under the nearest limit, the state, and the seconds to live; undefined: the counter is missing. */
  read({ key }: Pick<Increment, 'key'>, limiter: BudgetLimiter, nowSeconds: number) {
    const counter = this.kept.find(toKeptKey(key));
    if (counter === undefined) return undefined;
    const { state } = find(counter, limiter.budget, momentAt(nowSeconds), MAX_LAPSES);
    const value = usedOfNearest(limiter.budget, state);
    const [first] = this.listOpen({ key }, nowSeconds, 1);
    const ttlSeconds = this.kept.counters.endSeconds(counter.id) - nowSeconds;
    return { value, state, ttlSeconds, firstEndMs: first?.endMs };
  }

  /** Open reservations of a counter with unexpired leases, the first to expire first, up to a number. */
  listOpen(
    { key }: Pick<Increment, 'key'>,
    nowSeconds: number,
    most: number,
  ): readonly OpenReservation[] {
    return this.kept.find(toKeptKey(key))?.open.lasting(Math.round(nowSeconds * 1_000), most) ?? [];
  }

  /** Removes usage and blocks; open reservations stay, unless they are to end too (budgets.md section 9). */
  remove({ key }: Pick<Increment, 'key'>, withOpen = false): void {
    const counter = this.kept.find(toKeptKey(key));
    if (counter === undefined) return;
    if (withOpen || counter.open.size === 0) this.kept.counters.remove(counter.id);
    else {
      const { atMicros, held, open } = counter.kept;
      const { budget } = counter.limiter;
      const unused = unusedBudget(budget, { micros: atMicros, nowSeconds: atMicros / 1_000_000 });
      writeOver(counter.kept, changedState(unused, { held, open }));
      counter.strays = [];
    }
  }

  /** Sets a counter to a number of hits under each limit, or under one of them; false: no room for a new one. */
  set(
    increment: Increment,
    limiter: BudgetLimiter,
    { used, at }: SetTo,
    nowSeconds: number,
  ): boolean {
    const { budget } = limiter;
    const key = toKeptKey(increment.key);
    const known = this.kept.find(key);
    const moment = momentAt(nowSeconds);
    const { state, lapses } = find(known, budget, moment, MAX_LAPSES);
    const { held, open } = state;
    const after =
      at === undefined
        ? changedState(chargeHits(budget, unusedBudget(budget, moment), used), { held, open })
        : withUsed(budget, state, at, used);
    if (known === undefined && isUnused(after)) return true;
    const counter = this.kept.holdRoom(known, key, limiter, undefined);
    if (counter === undefined) return false;
    this.kept.putUnder(counter, limiter, moment);
    if (at === undefined) counter.strays = [];
    for (const one of lapses) this.kept.end(counter, one);
    this.kept.keep(counter, after, nowSeconds);
    return true;
  }

  /** Counters that refuse a single hit now, or a single reservation where they take these, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    const { table } = this.kept.counters;
    return findOver(this.kept.all(), most, (counter) => {
      if (table.list(counter.id) < USAGE_QUARTILES) return undefined;
      const { limiter } = counter;
      const { state } = find(counter, limiter.budget, momentAt(nowSeconds), MAX_LAPSES);
      const second = Math.floor(nowSeconds);
      const refused = refusalOfOne(limiter, state, second);
      if (refused === undefined) return undefined;
      const { limit, used, resetSeconds } = refused;
      return {
        key: table.keyOf(counter.id),
        limit,
        count: used,
        windowEndSeconds: second + resetSeconds,
      };
    });
  }
}

const NONE: readonly OpenReservation[] = [];

function find(
  counter: BudgetCounter | undefined,
  budget: Budget,
  moment: Moment,
  maxLapses: number,
  reservation?: Reservation,
): Found {
  if (counter === undefined) return { state: unusedBudget(budget, moment), lapses: NONE };
  const { open } = counter;
  const lapses = open.size === 0 ? NONE : dueOf(open, budget, moment, maxLapses);
  const stored = underBudget(budget, storedOf(counter), moment);
  const now = advanceBudget(budget, stored, lapses.length === 0 ? NO_LAPSES : lapses, moment);
  if (reservation === undefined) return { state: now, lapses };
  const one = open.get(reservation.id);
  const isOpen =
    one !== undefined && !lapses.includes(one) && !(reservation.mode === 'cancel' && one.isMet);
  return { state: isOpen ? changedState(now, { was: one.hits }) : now, lapses };
}

function dueOf(
  open: OpenReservations,
  { reserve }: Budget,
  { micros }: Moment,
  most: number,
): readonly OpenReservation[] {
  return open.due(Math.floor(micros / 1_000), reserve?.leaseMs ?? 0, most);
}
