import type { BudgetState, Reading } from '../core/kinds/kind';
import { type Increment } from '../core/ports';

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

export function isOfBudget(reading: Reading): reading is BudgetState {
  return typeof reading === 'object' && 'was' in reading;
}

function nameOf({ limiter, key }: Increment): string {
  return limiter.kind.letter + key;
}
