import type { Operation, Charges, Limiter, Outcome, Reading } from './kind';
import { secondsOfTicks } from './ticks';

/** How many of the charges fit whole: the first ones do. */
export function countAdmitted<S extends Reading>(
  limiter: Limiter<S>,
  reading: S,
  { hits, times }: Charges,
): number {
  if (hits <= 0 || hits > limiter.size) return 0;
  const free = Math.max(0, limiter.kind.free(limiter, reading));
  return Math.min(times, Math.floor(free / (hits * limiter.periodTicks)));
}

/** Whether any charge that takes hits is refused. */
export function isAnyRefused({ limiter, hits, times }: Operation, reading: Reading): boolean {
  return hits > 0 && countAdmitted(limiter, reading, { hits: Number(hits), times }) < times;
}

export function refusesOne({ limiter, hits }: Operation, reading: Reading): boolean {
  const { kind, periodTicks } = limiter;
  const count = Number(hits);
  if (count > 0) return kind.free(limiter, reading) < count * periodTicks;
  return kind.free(limiter, kind.take(limiter, reading, count)) < 0;
}

/** The counter after all charges; undefined when nothing has to be written: for a read, and where all is refused. */
export function commitCharges<S extends Reading>(operation: Operation, reading: S): S | undefined {
  const limiter = operation.limiter as Limiter<S>;
  const { times } = operation;
  const hits = Number(operation.hits);
  if (hits === 0) return undefined;
  const admitted = countAdmitted(limiter, reading, { hits, times });
  if (hits > 0 && admitted === 0 && !limiter.chargeDenied) return undefined;
  return afterCharges(limiter, reading, hits, times, admitted);
}

/** Whether a counter refused a single hit. */
export function wasFull({ limiter }: Operation, reading: Reading): boolean {
  return limiter.kind.free(limiter, reading) < limiter.periodTicks;
}

/** The counter after the first `count` charges, when `admitted` of them fit. */
export function afterCharges<S extends Reading>(
  limiter: Limiter<S>,
  reading: S,
  hits: number,
  count: number,
  admitted: number,
): S {
  const charged = limiter.chargeDenied || hits < 0 ? count : Math.min(count, admitted);
  return hits === 0 || charged === 0
    ? reading
    : limiter.kind.take(limiter, reading, charged * hits);
}

/**
 * The outcome of the charge with this number, from 1, among those judged by this reading, for a kind that reads first: all of its
 * hits are admitted, or all are over.
 */
export function outcomeOf(
  limiter: Limiter,
  reading: Reading,
  charges: Charges,
  number: number,
): Outcome {
  const { hits } = charges;
  const admitted = countAdmitted(limiter, reading, charges);
  const after = afterCharges(limiter, reading, hits, number, admitted);
  const isOver = hits > 0 ? number > admitted : limiter.kind.free(limiter, after) < 0;
  return outcomeAfter(limiter, after, isOver, Math.max(hits, 0));
}

/** The outcome of one charge of an increment; `later`: hits after its own. */
export function outcomeOfCharge(
  operation: Operation,
  reading: Reading,
  hits: number,
  later: number,
): Outcome {
  const { limiter, times } = operation;
  if (times === 1 && hits > 0 && hits < Number(operation.hits))
    return outcomeOfPart(operation, reading, hits, later);
  const charges = { hits, times };
  return outcomeOf(limiter, reading, charges, hits > 0 ? times - later / hits : 1);
}

/** The outcome of hits that are a part of one charge, which is admitted or refused whole. */
function outcomeOfPart(
  operation: Operation,
  reading: Reading,
  hits: number,
  later: number,
): Outcome {
  const { limiter } = operation;
  const all = { hits: Number(operation.hits), times: 1 };
  const admitted = countAdmitted(limiter, reading, all);
  const after =
    admitted === 1 || limiter.chargeDenied
      ? limiter.kind.take(limiter, reading, all.hits - later)
      : reading;
  const outcome = outcomeAfter(limiter, after, admitted === 0, all.hits);
  return { ...outcome, over: Math.min(outcome.over, hits) };
}

/** The outcome of a charge that was held back: its counter is only read. */
export function heldOutcomeOf({ limiter }: Operation, reading: Reading, hits: number): Outcome {
  const read = outcomeOf(limiter, reading, READ, 1);
  return read.isOver ? { ...read, over: Math.max(hits, 0) } : read;
}

const READ: Charges = { hits: 0, times: 1 };

function outcomeAfter(limiter: Limiter, after: Reading, isOver: boolean, hits: number): Outcome {
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
    resetSeconds: isOver && kind.isRecord ? Math.max(1, seconds) : seconds,
  };
}

/** How many of an admitted charge's hits lie above the threshold, by the hits in use after it. */
export function nearHits(threshold: number, hits: number, used: number): number {
  return Math.max(0, Math.min(hits, used - threshold));
}
