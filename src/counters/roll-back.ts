import { isBudgetLimiter } from '../core/budgets/budget';
import { holdBackAt, setReading, readingAt, type ReplyDraft } from '../core/batches/reply-draft';
import type { BudgetState, Reading } from '../core/kinds/kind';
import type { CounterBatch, Increment } from '../core/ports';
import { isEnding, wasRefused } from './hold-back';

/** The increments that undo a batch. */
export interface RolledBack {
  readonly index: number;
  readonly increment: Increment;
}

/** The increment as a read of its counter and of its reservation. */
export function readOf(increment: Increment): Increment {
  const { limiter, reservation } = increment;
  const isReserving = isBudgetLimiter(limiter) && limiter.budget.reserve !== undefined;
  const read = { mode: 'read', id: reservation?.id ?? '', saysHits: false } as const;
  return { ...increment, hits: 0, times: 1, reservation: isReserving ? read : undefined };
}

/** Readings that refused their increments; by the indices of these. */
export type Refusing = ReadonlyMap<number, Reading>;

/**
 * For requests whose counters were charged separately: where one was refused, the others count as held back, and their charges are
 * undone, by the figures of the charges (budgets.md section 7). An increment that its reading refused, so that the others were held
 * back, stays refused even if others made room for it since.
 */
export function planRollBack(
  { increments, groupEnds = [] }: CounterBatch,
  draft: ReplyDraft,
  refusing: Refusing,
): readonly RolledBack[] {
  const taken: RolledBack[] = [];
  for (const [index, reading] of refusing)
    refuse(taken, draft, index, { increment: increments[index] as Increment, reading });
  let start = 0;
  for (const end of groupEnds) {
    taken.push(...takeRun(increments, draft, start, end));
    start = end;
  }
  return taken;
}

function takeRun(
  increments: readonly Increment[],
  draft: ReplyDraft,
  start: number,
  end: number,
): readonly RolledBack[] {
  const taken: RolledBack[] = [];
  const refusals = increments
    .slice(start, end)
    .map((one, at) => !isHeld(draft, start + at) && wasRefused(one, draft, start + at));
  // The reading of a counter that the request uses again contains its own hits.
  const met = new Set<string>();
  const isRefused = (isOne: boolean, at: number): boolean => {
    const { key, holdsBack, limiter } = increments[start + at] as Increment;
    const isFirst = met.size < met.add(key).size;
    // An increment that is always charged leaves the others charged too.
    return isOne && isFirst && holdsBack !== false && limiter.kind.readsFirst;
  };
  if (!refusals.some(isRefused)) return taken;
  for (const [at, isOne] of refusals.entries())
    if (!isOne) takeOne(taken, draft, start + at, increments[start + at] as Increment);
  return taken;
}

function refuse(
  taken: RolledBack[],
  draft: ReplyDraft,
  index: number,
  { increment, reading }: { readonly increment: Increment; readonly reading: Reading },
): void {
  const { limiter, holdsBack } = increment;
  if (holdsBack === false || !limiter.kind.readsFirst || draft.failures?.has(index) === true)
    return;
  if (wasRefused(increment, draft, index)) return;
  const undo = limiter.chargeDenied ? undefined : undoOf(increment, readingAt(draft, index));
  if (undo !== undefined) taken.push({ index, increment: undo });
  setReading(draft, index, reading);
}

function takeOne(
  taken: RolledBack[],
  draft: ReplyDraft,
  index: number,
  increment: Increment,
): void {
  if (isHeld(draft, index) || isEnding(increment) || draft.failures?.has(index) === true) return;
  const reading = readingAt(draft, index);
  const before =
    typeof reading === 'number' ? Math.max(0, reading - Number(increment.hits)) : reading;
  holdBackAt(draft, index, before);
  const undo = undoOf(increment, before);
  if (undo !== undefined) taken.push({ index, increment: undo });
}

/** Undefined: nothing was charged, reserved or refunded. The undo applies to the window of the charge. */
function undoOf(increment: Increment, before: Reading): Increment | undefined {
  const { hits, times, reservation } = increment;
  if (reservation === undefined) {
    const charged = typeof hits === 'bigint' ? hits * BigInt(times) : hits * times;
    if (charged === 0) return undefined;
    const undoOfMicros = typeof before === 'object' ? before.atMicros : undefined;
    return { ...increment, hits: -charged, times: 1, undoOfMicros };
  }
  const isOpened = reservation.mode === 'reserve' && (before as BudgetState).was < 0;
  if (!isOpened) return undefined;
  return { ...increment, hits: 0, reservation: { ...reservation, mode: 'cancel' } };
}

function isHeld({ held }: ReplyDraft, index: number): boolean {
  return held?.[index] === true;
}
