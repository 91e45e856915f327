import type { Operation, Charges, Limiter, Outcome, Seen } from './kind';
import { secondsOfTicks } from './ticks';

/** How many of the charges fit whole: the first ones do. */
export function countAdmitted<S extends Seen>(
  limiter: Limiter<S>,
  seen: S,
  { hits, times }: Charges,
): number {
  if (hits <= 0 || hits > limiter.size) return 0;
  const free = Math.max(0, limiter.kind.free(limiter, seen));
  return Math.min(times, Math.floor(free / (hits * limiter.periodTicks)));
}

/** Whether any charge that takes hits is refused. */
export function isAnyRefused({ limiter, hits, times }: Operation, seen: Seen): boolean {
  return hits > 0 && countAdmitted(limiter, seen, { hits: Number(hits), times }) < times;
}

export function refusesOne({ limiter, hits }: Operation, seen: Seen): boolean {
  const { kind, periodTicks } = limiter;
  const count = Number(hits);
  if (count > 0) return kind.free(limiter, seen) < count * periodTicks;
  return kind.free(limiter, kind.take(limiter, seen, count)) < 0;
}

/** The counter after all charges; undefined when nothing has to be written: for a read, and where all is refused. */
export function commitCharges<S extends Seen>(operation: Operation, seen: S): S | undefined {
  const limiter = operation.limiter as Limiter<S>;
  const { times } = operation;
  const hits = Number(operation.hits);
  if (hits === 0) return undefined;
  const admitted = countAdmitted(limiter, seen, { hits, times });
  if (hits > 0 && admitted === 0 && !limiter.chargeDenied) return undefined;
  return afterCharges(limiter, seen, hits, times, admitted);
}

/** Whether a counter refused a single hit. */
export function wasFull({ limiter }: Operation, seen: Seen): boolean {
  return limiter.kind.free(limiter, seen) < limiter.periodTicks;
}

/** The counter after the first `count` charges, when `admitted` of them fit. */
export function afterCharges<S extends Seen>(
  limiter: Limiter<S>,
  seen: S,
  hits: number,
  count: number,
  admitted: number,
): S {
  const charged = limiter.chargeDenied || hits < 0 ? count : Math.min(count, admitted);
  return hits === 0 || charged === 0 ? seen : limiter.kind.take(limiter, seen, charged * hits);
}

/**
 * The outcome of the charge with this number, from 1, among those judged by this reading, for a kind that reads first: all of its
 * hits are admitted, or all are over.
 */
export function outcomeOf(limiter: Limiter, seen: Seen, charges: Charges, number: number): Outcome {
  const { hits } = charges;
  const admitted = countAdmitted(limiter, seen, charges);
  const after = afterCharges(limiter, seen, hits, number, admitted);
  const isOver = hits > 0 ? number > admitted : limiter.kind.free(limiter, after) < 0;
  return outcomeAfter(limiter, after, isOver, Math.max(hits, 0));
}

/** The outcome of one charge of an increment; `later`: hits after its own. */
export function outcomeOfCharge(
  operation: Operation,
  seen: Seen,
  hits: number,
  later: number,
): Outcome {
  const { limiter, times } = operation;
  if (times === 1 && hits > 0 && hits < Number(operation.hits))
    return outcomeOfPart(operation, seen, hits, later);
  const charges = { hits, times };
  return outcomeOf(limiter, seen, charges, hits > 0 ? times - later / hits : 1);
}

/** The outcome of hits that are a part of one charge, which is admitted or refused whole. */
function outcomeOfPart(operation: Operation, seen: Seen, hits: number, later: number): Outcome {
  const { limiter } = operation;
  const all = { hits: Number(operation.hits), times: 1 };
  const admitted = countAdmitted(limiter, seen, all);
  const after =
    admitted === 1 || limiter.chargeDenied
      ? limiter.kind.take(limiter, seen, all.hits - later)
      : seen;
  const outcome = outcomeAfter(limiter, after, admitted === 0, all.hits);
  return { ...outcome, over: Math.min(outcome.over, hits) };
}

/** The outcome of a charge that was held back: its counter is only read. */
export function heldOutcomeOf({ limiter }: Operation, seen: Seen, hits: number): Outcome {
  const looked = outcomeOf(limiter, seen, LOOK, 1);
  return looked.isOver ? { ...looked, over: Math.max(hits, 0) } : looked;
}

const LOOK: Charges = { hits: 0, times: 1 };

function outcomeAfter(limiter: Limiter, after: Seen, isOver: boolean, hits: number): Outcome {
  const { kind, size, periodTicks, tickMicros } = limiter;
  const free = Math.max(0, Math.floor(kind.free(limiter, after) / periodTicks));
  const ticks =
    isOver && hits <= size
      ? kind.ticksUntilFree(limiter, after, hits)
      : kind.ticksUntilReset(limiter, after);
  const seconds = secondsOfTicks(ticks, tickMicros);
  return {
    isOver,
    remaining: isOver ? 0 : free,
    used: size - free,
    over: isOver ? hits : 0,
    resetSeconds: isOver && kind.hasOwnForm ? Math.max(1, seconds) : seconds,
  };
}

/** How many of an admitted charge's hits lie above the threshold, by the hits in use after it. */
export function nearHits(threshold: number, hits: number, used: number): number {
  return Math.max(0, Math.min(hits, used - threshold));
}
