import { all } from '../core/kinds/refusal';
import type { Reading, State, BudgetState } from '../core/kinds/kind';
import type { CounterBatch, CounterReply, Increment } from '../core/ports';

/** What to do with the increments of a batch, by index. */
export interface RunActions {
  /** The counter of an increment before its run; undefined: it cannot be read, and fails when it is added. */
  readonly read: (increment: Increment) => Reading | undefined;
  /** `refusing`: the reading of its counter, which refuses it, so that the others of its run are held back. */
  readonly add: (index: number, increment: Increment, refusing: Reading | undefined) => void;
  /** The increment is held back; `reading`: the reading of its counter. */
  readonly holdBack: (index: number, reading: Reading | undefined) => void;
  /**
   * Skips an increment that its counter refuses only because of earlier ones in its run, which are held back themselves. Missing:
   * the store has no reservations.
   */
  readonly refuse?: (index: number, reading: Reading) => void;
}

/**
 * Decides run after run, in order, so that a run sees what earlier ones have added: when an increment of a run would exceed its
 * limit, those that would not are held back (behaviour.md §3.6).
 */
export function decideRuns(
  { increments, groupEnds = [] }: CounterBatch,
  actions: RunActions,
): void {
  let start = 0;
  for (const end of groupEnds) {
    decideRun(increments.slice(start, end), start, actions);
    start = end;
  }
}

function decideRun(
  run: readonly Increment[],
  start: number,
  { read: look, add, holdBack, refuse }: RunActions,
): void {
  const alone = run.map(look);
  const reading = run.length > 1 ? besideEachOther(run, alone) : alone;
  const refusals = all(run, reading);
  for (const [at, increment] of run.entries()) {
    const one = reading[at];
    if (refusals?.[at] !== true) {
      if (refusals === undefined || isEnding(increment)) add(start + at, increment, undefined);
      else holdBack(start + at, one);
    } else if (isLate(increment, alone[at], one)) refuse?.(start + at, one as Reading);
    else add(start + at, increment, one);
  }
}

/** Readings of a run's counters as if all earlier charges were admitted: a run may reserve several times on one counter. */
function besideEachOther(
  run: readonly Increment[],
  reading: readonly (Reading | undefined)[],
): readonly (Reading | undefined)[] {
  if (!run.some(({ reservation }) => reservation?.mode === 'reserve')) return reading;
  const ahead = new Map<string, { readonly hits: number; readonly open: number }>();
  return run.map(({ key, hits, reservation, holdsBack }, at) => {
    const one = reading[at];
    if (one === undefined || !isOfBudget(one)) return one;
    const before = ahead.get(key) ?? { hits: 0, open: 0 };
    const isOpening = reservation?.mode === 'reserve' && one.was < 0;
    const wanted = isOpening || reservation === undefined ? Math.max(0, Number(hits)) : 0;
    ahead.set(key, { hits: before.hits + wanted, open: before.open + (isOpening ? 1 : 0) });
    if (holdsBack === false) return one;
    return { ...one, held: one.held + before.hits, open: one.open + before.open };
  });
}

function isLate(
  increment: Increment,
  alone: Reading | undefined,
  reading: Reading | undefined,
): boolean {
  if (reading === alone || alone === undefined || increment.holdsBack === false) return false;
  return !increment.limiter.kind.refuses(increment, alone);
}

/** Settle and cancel apply even if the request is refused. */
export function isEnding({ reservation }: Increment): boolean {
  return reservation !== undefined && ['settle', 'cancel'].includes(reservation.mode);
}

/** Whether an increment of a batch was answered and refused, by its counter. */
export function wasRefused(
  increment: Increment,
  { after, states, failures }: Pick<CounterReply, 'after' | 'states' | 'failures'>,
  index: number,
): boolean {
  if (failures?.has(index) === true) return false;
  const { limiter, hits } = increment;
  const reading = limiter.kind.readsFirst
    ? states?.[index]
    : (after[index] as number) - Number(hits);
  return reading !== undefined && limiter.kind.refuses(increment, reading);
}

/** Whether an increment would exceed its limit. */
export function isRefused(increment: Increment, reading: Reading | undefined): boolean {
  return all([increment], [reading]) !== undefined;
}

/** Counters as they were read before a batch, by key. */
export interface ReadCounters {
  readonly counts: ReadonlyMap<string, number>;
  /** States of kinds that read first, by `stateName`. */
  readonly states?: ReadonlyMap<string, State>;
}

/** The reading of an increment's counter; undefined: it was not read. */
export function findReading(
  { counts, states }: ReadCounters,
  increment: Increment,
): Reading | undefined {
  const { limiter, key } = increment;
  return limiter.kind.readsFirst ? states?.get(stateName(increment)) : counts.get(key);
}

/**
 * Decides, from readings, which increments of a batch are held back; returns their readings by index. Calls `onRefusing` for those
 * that cause it, and `onLate` for those to skip, which their counters refuse only beside others.
 */
export function planHoldBack(
  batch: CounterBatch,
  read: ReadCounters,
  onRefusing?: (index: number, reading: Reading) => void,
  onLate?: (index: number, reading: Reading) => void,
): ReadonlyMap<number, Reading | undefined> {
  const counters = new UpdatedReadings(
    (increment) =>
      // A missing count is 0.
      findReading(read, increment) ?? (increment.limiter.kind.readsFirst ? undefined : 0),
  );
  const held = new Map<number, Reading | undefined>();
  decideRuns(batch, {
    read: (increment) => counters.read(increment),
    add(index, increment, refusing) {
      counters.add(increment);
      if (refusing !== undefined) onRefusing?.(index, refusing);
    },
    holdBack(index, one) {
      held.set(index, one);
    },
    refuse(index, one) {
      onLate?.(index, one);
    },
  });
  return held;
}

/** The identity of a reading: it contains what a reservation holds. */
export function stateName({ key, reservation }: Increment): string {
  return reservation === undefined ? key : `${key} ${reservation.id}`;
}

/** Counters that were read, with hits added to them. */
export class UpdatedReadings {
  readonly #read: (increment: Increment) => Reading | undefined;
  /** Those to which hits were added, by the letter of the kind and the key: kinds may share a key. */
  readonly #changed = new Map<string, Reading>();
  /** Hits of reservations opened or closed since, by `stateName`; -1: closed. */
  readonly #holds = new Map<string, number>();

  constructor(read: (increment: Increment) => Reading | undefined) {
    this.#read = read;
  }

  read(increment: Increment): Reading | undefined {
    const changed = this.#changed.get(nameOf(increment));
    if (changed === undefined) return this.#read(increment);
    return isOfBudget(changed) ? { ...changed, was: this.#heldBy(increment) } : changed;
  }

  /** The reading that a store would return for the increment. */
  add(increment: Increment): Reading | undefined {
    const { kind } = increment.limiter;
    const before = this.read(increment);
    if (before === undefined) return undefined;
    const after = kind.commit(increment, before) ?? before;
    this.#changed.set(nameOf(increment), after);
    if (isOfBudget(before) && isOfBudget(after) && after.open !== before.open)
      this.#holds.set(
        stateName(increment),
        after.open > before.open ? after.held - before.held : -1,
      );
    return kind.readsFirst ? before : after;
  }

  /** Hits that the reservation of an increment holds; -1: it is not open. */
  #heldBy(increment: Increment): number {
    if (increment.reservation === undefined) return -1;
    const held = this.#holds.get(stateName(increment));
    if (held !== undefined) return held;
    const reading = this.#read(increment);
    return reading !== undefined && isOfBudget(reading) ? reading.was : -1;
  }
}

function isOfBudget(reading: Reading): reading is BudgetState {
  return typeof reading === 'object' && 'was' in reading;
}

function nameOf({ limiter, key }: Increment): string {
  return limiter.kind.letter + key;
}
