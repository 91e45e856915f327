import type { CounterState, Gate, Kind, Seen } from './kind';
import { millisOfTicks, ticksOf } from './ticks';
import { WINDOW_TICKS } from './window';

/** What a rule says about how it counts, its kind apart. */
export interface GateDefinition {
  /** Hits per period. */
  readonly limit: number;
  /** Hits that fit at once, where the kind has a burst; undefined: the limit. */
  readonly burst?: number | undefined;
  /** Whether refused hits are charged; undefined: as the kind does. */
  readonly chargeDenied?: boolean | undefined;
  readonly periodSeconds: number;
}

export function limitGate(kind: Kind, definition: GateDefinition): Gate {
  const { limit, burst = limit, chargeDenied = false, periodSeconds } = definition;
  const { tickMicros, periodTicks } = kind.hasOwnForm ? ticksOf(periodSeconds) : WINDOW_TICKS;
  return {
    kind,
    limit,
    size: kind.hasBurst && limit > 0 ? burst : limit,
    drain: Math.max(1, limit),
    // A debt under a limit of 0 would never end.
    chargeDenied: !kind.looks || (chargeDenied && limit > 0),
    keyEnd: kind.hasOwnForm ? `_${String(periodSeconds)}s~${kind.letter}` : undefined,
    tickMicros,
    periodTicks,
    isAlone: false,
  };
}

/** An instance's share of a limit, while so many count for themselves: rounded down, and at least 1, so that none is shut. */
export function shareOf(gate: Gate, replicas: number): Gate {
  const of = (hits: number): number => (hits === 0 ? 0 : Math.max(1, Math.floor(hits / replicas)));
  const limit = of(gate.limit);
  return { ...gate, limit, size: of(gate.size), drain: Math.max(1, limit) };
}

/** Whether counters hold more than a count of a window, see `Kind`. */
export function hasOwnForm(gate: Gate): gate is Gate<CounterState> {
  return gate.kind.hasOwnForm;
}

/** Hits that fit at once, where they are more than the limit says. */
export function burstOf({ kind, size }: Gate): number | undefined {
  return kind.hasBurst ? size : undefined;
}

/** A counter that was never used. */
export function unused<S extends Seen>(gate: Gate<S>, nowTick: number): S {
  return gate.kind.ofHits(gate, 0, nowTick);
}

/** Whole hits that would be admitted now. */
export function freeHits<S extends Seen>(gate: Gate<S>, seen: S): number {
  return Math.max(0, Math.floor(gate.kind.free(gate, seen) / gate.periodTicks));
}

/** Hits in use, a part of one counted as one; beyond the limit when it was lowered. */
export function usedHits<S extends Seen>(gate: Gate<S>, seen: S): number {
  return gate.size + Math.ceil(-gate.kind.free(gate, seen) / gate.periodTicks);
}

/** Whether a counter says the same as none: its key is deleted. */
export function isUnused({ used, previous }: CounterState): boolean {
  return used === 0 && previous === 0;
}

/** A key outlives what it holds by this, so that no answer depends on when a store forgets. */
const SPARE_MS = 1_000;

/** Milliseconds for which a counter in its own form has to be kept after it was written. */
export function lifetimeMs<S extends Seen>(gate: Gate<S>, seen: S): number {
  return millisOfTicks(gate.kind.ticksOfLife(gate, seen), gate.tickMicros) + SPARE_MS;
}
