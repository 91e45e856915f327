import type { CounterState, Gate, Kind, Seen } from './kind';
import { millisOfTicks, ticksOf } from './ticks';
import { WINDOW_TICKS } from './window';

/** How a rule counts, apart from its kind. */
export interface GateDefinition {
  /** Hits per period. */
  readonly limit: number;
  /** Burst size, where the kind has a burst; undefined: the limit. */
  readonly burst?: number | undefined;
  /** Whether refused hits are charged; undefined: the kind's default. */
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

/** One instance's share of a limit while `replicas` count alone: rounded down, and at least 1, so that no instance is shut. */
export function shareOf(gate: Gate, replicas: number): Gate {
  const of = (hits: number): number => (hits === 0 ? 0 : Math.max(1, Math.floor(hits / replicas)));
  const limit = of(gate.limit);
  return { ...gate, limit, size: of(gate.size), drain: Math.max(1, limit) };
}

/** Whether counters hold more than the count of a window, see `Kind`. */
export function hasOwnForm(gate: Gate): gate is Gate<CounterState> {
  return gate.kind.hasOwnForm;
}

/** The burst size, where it exceeds the limit. */
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

/** Hits in use, a partial hit counted as one; above the limit after the limit was lowered. */
export function usedHits<S extends Seen>(gate: Gate<S>, seen: S): number {
  return gate.size + Math.ceil(-gate.kind.free(gate, seen) / gate.periodTicks);
}

/** Whether a counter is equivalent to a missing one: its key is deleted. */
export function isUnused({ used, previous }: CounterState): boolean {
  return used === 0 && previous === 0;
}

/** A key outlives its content by this, so that no answer depends on when a store expires keys. */
const SPARE_MS = 1_000;

/** Milliseconds for which a record is kept after it was written. */
export function lifetimeMs<S extends Seen>(gate: Gate<S>, seen: S): number {
  return millisOfTicks(gate.kind.ticksOfLife(gate, seen), gate.tickMicros) + SPARE_MS;
}
