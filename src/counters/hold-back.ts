import { all } from '../core/kinds/all';
import type { Seen, State } from '../core/kinds/kind';
import { type CounterBatch, type CounterReply, type Increment } from '../core/ports';
import { isOfBudget, SeenCounters, stateName } from './seen-counters';

/** What becomes of the increments of a batch, by their index. */
export interface RunActions {
  /** The counter of an increment as it stands before its run; undefined: it cannot be read. It then fails when it is added. */
  readonly look: (increment: Increment) => Seen | undefined;
  /** `refusing`: where its counter stands, which refuses it, so that the others of its run are held back. */
  readonly add: (index: number, increment: Increment, refusing: Seen | undefined) => void;
  /** The increment is held back; its counter was seen so. */
  readonly holdBack: (index: number, seen: Seen | undefined) => void;
  /**
   * Nothing is done for the increment, which its counter refuses as it was seen so: beside what asks of its run before it want, which
   * are held back. Missing: the store takes no reservations.
   */
  readonly refuse?: (index: number, seen: Seen) => void;
}

/**
 * Decides run after run, in order, so that a run sees what those before it have added: when an increment of a run would
 * go over its limit, all that would not are held back (behaviour.md §3.6).
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
  { look, add, holdBack, refuse }: RunActions,
): void {
  const alone = run.map(look);
  const seen = run.length > 1 ? besideEachOther(run, alone) : alone;
  const refusals = all(run, seen);
  for (const [at, increment] of run.entries()) {
    const one = seen[at];
    if (refusals?.[at] !== true) {
      if (refusals === undefined || isEnding(increment)) add(start + at, increment, undefined);
      else holdBack(start + at, one);
    } else if (isLate(increment, alone[at], one)) refuse?.(start + at, one as Seen);
    else add(start + at, increment, one);
  }
}

/** Where the counters of a run would stand if all asks before each were admitted: a run may meet one several times to reserve. */
function besideEachOther(
  run: readonly Increment[],
  seen: readonly (Seen | undefined)[],
): readonly (Seen | undefined)[] {
  if (!run.some(({ reservation }) => reservation?.mode === 'reserve')) return seen;
  const ahead = new Map<string, { readonly hits: number; readonly open: number }>();
  return run.map(({ key, hits, reservation, holdsBack }, at) => {
    const one = seen[at];
    if (one === undefined || !isOfBudget(one)) return one;
    const before = ahead.get(key) ?? { hits: 0, open: 0 };
    const isOpening = reservation?.mode === 'reserve' && one.was < 0;
    const wanted = isOpening || reservation === undefined ? Math.max(0, Number(hits)) : 0;
    ahead.set(key, { hits: before.hits + wanted, open: before.open + (isOpening ? 1 : 0) });
    if (holdsBack === false) return one;
    return { ...one, held: one.held + before.hits, open: one.open + before.open };
  });
}

function isLate(increment: Increment, alone: Seen | undefined, seen: Seen | undefined): boolean {
  if (seen === alone || alone === undefined || increment.holdsBack === false) return false;
  return !increment.gate.kind.refuses(increment, alone);
}

/** What ends a reservation is done whatever becomes of its request. */
export function isEnding({ reservation }: Increment): boolean {
  return reservation !== undefined && ['settle', 'cancel'].includes(reservation.mode);
}

/** Whether an increment of a batch was answered and refused: its counter says so. */
export function wasRefused(
  increment: Increment,
  { after, states, failures }: Pick<CounterReply, 'after' | 'states' | 'failures'>,
  index: number,
): boolean {
  if (failures?.has(index) === true) return false;
  const { gate, hits } = increment;
  const seen = gate.kind.looks ? states?.[index] : (after[index] as number) - Number(hits);
  return seen !== undefined && gate.kind.refuses(increment, seen);
}

/** Whether one increment would go over its limit. */
export function isRefused(increment: Increment, seen: Seen | undefined): boolean {
  return all([increment], [seen]) !== undefined;
}

/** Counters as they were read before a batch, by key. */
export interface ReadCounters {
  readonly counts: ReadonlyMap<string, number>;
  /** Those of kinds that look, by `stateName`. */
  readonly states?: ReadonlyMap<string, State>;
}

/** What was read of the counter of an increment; undefined: nothing. */
export function readSeen({ counts, states }: ReadCounters, increment: Increment): Seen | undefined {
  const { gate, key } = increment;
  return gate.kind.looks ? states?.get(stateName(increment)) : counts.get(key);
}

/**
 * Decides, from counters that were read, which increments of a batch are held back; by their indexes, with what was seen.
 * `onRefusing` hears for which ones, `onLate` for which nothing is to be done though their counters refuse them only beside others.
 */
export function planHoldBack(
  batch: CounterBatch,
  read: ReadCounters,
  onRefusing?: (index: number, seen: Seen) => void,
  onLate?: (index: number, seen: Seen) => void,
): ReadonlyMap<number, Seen | undefined> {
  const seen = new SeenCounters(
    (increment) =>
      // A count that is not there is 0.
      readSeen(read, increment) ?? (increment.gate.kind.looks ? undefined : 0),
  );
  const held = new Map<number, Seen | undefined>();
  decideRuns(batch, {
    look: (increment) => seen.look(increment),
    add(index, increment, refusing) {
      seen.add(increment);
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
