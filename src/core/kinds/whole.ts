import type { Asked, Asks, Limiter, Outcome, Seen } from './kind';
import { secondsOfTicks } from './ticks';

/** How many of the charges fit whole: the first ones do. */
export function countAdmitted<S extends Seen>(
  limiter: Limiter<S>,
  seen: S,
  { hits, times }: Asks,
): number {
  if (hits <= 0 || hits > limiter.size) return 0;
  const free = Math.max(0, limiter.kind.free(limiter, seen));
  return Math.min(times, Math.floor(free / (hits * limiter.periodTicks)));
}

/** Whether any charge that takes hits is refused. */
export function isAnyRefused({ limiter, hits, times }: Asked, seen: Seen): boolean {
  return hits > 0 && countAdmitted(limiter, seen, { hits: Number(hits), times }) < times;
}

export function refusesOne({ limiter, hits }: Asked, seen: Seen): boolean {
  const { kind, periodTicks } = limiter;
  const asked = Number(hits);
  if (asked > 0) return kind.free(limiter, seen) < asked * periodTicks;
  return kind.free(limiter, kind.take(limiter, seen, asked)) < 0;
}

/** The counter after all charges; undefined when nothing has to be written: for a read, and where all is refused. */
export function commitAsks<S extends Seen>(asked: Asked, seen: S): S | undefined {
  const limiter = asked.limiter as Limiter<S>;
  const { times } = asked;
  const hits = Number(asked.hits);
  if (hits === 0) return undefined;
  const admitted = countAdmitted(limiter, seen, { hits, times });
  if (hits > 0 && admitted === 0 && !limiter.chargeDenied) return undefined;
  return afterAsks(limiter, seen, hits, times, admitted);
}

/** Whether a counter refused a single hit. */
export function wasFull({ limiter }: Asked, seen: Seen): boolean {
  return limiter.kind.free(limiter, seen) < limiter.periodTicks;
}

/** The counter after the first `asked` charges, when `admitted` of them fit. */
export function afterAsks<S extends Seen>(
  limiter: Limiter<S>,
  seen: S,
  hits: number,
  asked: number,
  admitted: number,
): S {
  const charged = limiter.chargeDenied || hits < 0 ? asked : Math.min(asked, admitted);
  return hits === 0 || charged === 0 ? seen : limiter.kind.take(limiter, seen, charged * hits);
}

/**
 * The outcome of the charge with this number, from 1, among those judged by this reading, for a kind that reads first: all of its
 * hits are admitted, or all are over.
 */
export function outcomeOf(limiter: Limiter, seen: Seen, asks: Asks, number: number): Outcome {
  const { hits } = asks;
  const admitted = countAdmitted(limiter, seen, asks);
  const after = afterAsks(limiter, seen, hits, number, admitted);
  const isOver = hits > 0 ? number > admitted : limiter.kind.free(limiter, after) < 0;
  return outcomeAfter(limiter, after, isOver, Math.max(hits, 0));
}

/** The outcome of one charge of an increment; `later`: hits after its own. */
export function outcomeOfAsk(asked: Asked, seen: Seen, hits: number, later: number): Outcome {
  const { limiter, times } = asked;
  if (times === 1 && hits > 0 && hits < Number(asked.hits))
    return outcomeOfPart(asked, seen, hits, later);
  const asks = { hits, times };
  return outcomeOf(limiter, seen, asks, hits > 0 ? times - later / hits : 1);
}

/** The outcome of hits that are a part of one charge, which is admitted or refused whole. */
function outcomeOfPart(asked: Asked, seen: Seen, hits: number, later: number): Outcome {
  const { limiter } = asked;
  const all = { hits: Number(asked.hits), times: 1 };
  const admitted = countAdmitted(limiter, seen, all);
  const after =
    admitted === 1 || limiter.chargeDenied
      ? limiter.kind.take(limiter, seen, all.hits - later)
      : seen;
  const outcome = outcomeAfter(limiter, after, admitted === 0, all.hits);
  return { ...outcome, over: Math.min(outcome.over, hits) };
}

/** The outcome of a charge that was held back: its counter is only read. */
export function heldOutcomeOf({ limiter }: Asked, seen: Seen, hits: number): Outcome {
  const looked = outcomeOf(limiter, seen, LOOK, 1);
  return looked.isOver ? { ...looked, over: Math.max(hits, 0) } : looked;
}

const LOOK: Asks = { hits: 0, times: 1 };

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
