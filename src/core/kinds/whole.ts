import type { Asked, Asks, Gate, Outcome, Seen } from './kind';
import { secondsOfTicks } from './ticks';

/** How many of the charges fit whole: the first ones do. */
export function countAdmitted<S extends Seen>(
  gate: Gate<S>,
  seen: S,
  { hits, times }: Asks,
): number {
  if (hits <= 0 || hits > gate.size) return 0;
  const free = Math.max(0, gate.kind.free(gate, seen));
  return Math.min(times, Math.floor(free / (hits * gate.periodTicks)));
}

/** Whether any charge that takes hits is refused. */
export function isAnyRefused({ gate, hits, times }: Asked, seen: Seen): boolean {
  return hits > 0 && countAdmitted(gate, seen, { hits: Number(hits), times }) < times;
}

export function refusesOne({ gate, hits }: Asked, seen: Seen): boolean {
  const { kind, periodTicks } = gate;
  const asked = Number(hits);
  if (asked > 0) return kind.free(gate, seen) < asked * periodTicks;
  return kind.free(gate, kind.take(gate, seen, asked)) < 0;
}

/** The counter after all charges; undefined when nothing has to be written: for a read, and where all is refused. */
export function commitAsks<S extends Seen>(asked: Asked, seen: S): S | undefined {
  const gate = asked.gate as Gate<S>;
  const { times } = asked;
  const hits = Number(asked.hits);
  if (hits === 0) return undefined;
  const admitted = countAdmitted(gate, seen, { hits, times });
  if (hits > 0 && admitted === 0 && !gate.chargeDenied) return undefined;
  return afterAsks(gate, seen, hits, times, admitted);
}

/** Whether a counter refused a single hit. */
export function wasFull({ gate }: Asked, seen: Seen): boolean {
  return gate.kind.free(gate, seen) < gate.periodTicks;
}

/** The counter after the first `asked` charges, when `admitted` of them fit. */
export function afterAsks<S extends Seen>(
  gate: Gate<S>,
  seen: S,
  hits: number,
  asked: number,
  admitted: number,
): S {
  const charged = gate.chargeDenied || hits < 0 ? asked : Math.min(asked, admitted);
  return hits === 0 || charged === 0 ? seen : gate.kind.take(gate, seen, charged * hits);
}

/**
 * The outcome of the charge with this number, from 1, among those judged by this reading, for a kind that reads first: all of its
 * hits are admitted, or all are over.
 */
export function outcomeOf(gate: Gate, seen: Seen, asks: Asks, number: number): Outcome {
  const { hits } = asks;
  const admitted = countAdmitted(gate, seen, asks);
  const after = afterAsks(gate, seen, hits, number, admitted);
  const isOver = hits > 0 ? number > admitted : gate.kind.free(gate, after) < 0;
  return outcomeAfter(gate, after, isOver, Math.max(hits, 0));
}

/** The outcome of one charge of an increment; `later`: hits after its own. */
export function outcomeOfAsk(asked: Asked, seen: Seen, hits: number, later: number): Outcome {
  const { gate, times } = asked;
  if (times === 1 && hits > 0 && hits < Number(asked.hits))
    return outcomeOfPart(asked, seen, hits, later);
  const asks = { hits, times };
  return outcomeOf(gate, seen, asks, hits > 0 ? times - later / hits : 1);
}

/** The outcome of hits that are a part of one charge, which is admitted or refused whole. */
function outcomeOfPart(asked: Asked, seen: Seen, hits: number, later: number): Outcome {
  const { gate } = asked;
  const all = { hits: Number(asked.hits), times: 1 };
  const admitted = countAdmitted(gate, seen, all);
  const after =
    admitted === 1 || gate.chargeDenied ? gate.kind.take(gate, seen, all.hits - later) : seen;
  const outcome = outcomeAfter(gate, after, admitted === 0, all.hits);
  return { ...outcome, over: Math.min(outcome.over, hits) };
}

/** The outcome of a charge that was held back: its counter is only read. */
export function heldOutcomeOf({ gate }: Asked, seen: Seen, hits: number): Outcome {
  const looked = outcomeOf(gate, seen, LOOK, 1);
  return looked.isOver ? { ...looked, over: Math.max(hits, 0) } : looked;
}

const LOOK: Asks = { hits: 0, times: 1 };

function outcomeAfter(gate: Gate, after: Seen, isOver: boolean, hits: number): Outcome {
  const { kind, size, periodTicks, tickMicros } = gate;
  const free = Math.max(0, Math.floor(kind.free(gate, after) / periodTicks));
  const ticks =
    isOver && hits <= size
      ? kind.ticksUntilFree(gate, after, hits)
      : kind.ticksUntilReset(gate, after);
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
