import type { CounterState, Limiter, Kind, Reading } from './kind';
import { millisOfTicks, ticksOf } from './ticks';
import { WINDOW_TICKS } from './window';

/** How a rule counts, apart from its kind. */
export interface LimiterDefinition {
  /** Hits per period. */
  readonly limit: number;
  /** Burst size, where the kind has a burst; undefined: the limit. */
  readonly burst?: number | undefined;
  /** Whether refused hits are charged; undefined: the kind's default. */
  readonly chargeDenied?: boolean | undefined;
  readonly periodSeconds: number;
}

export function compileLimiter(kind: Kind, definition: LimiterDefinition): Limiter {
  const { limit, burst = limit, chargeDenied = false, periodSeconds } = definition;
  const { tickMicros, periodTicks } = kind.isRecord ? ticksOf(periodSeconds) : WINDOW_TICKS;
  return {
    kind,
    limit,
    size: kind.hasBurst && limit > 0 ? burst : limit,
    drain: Math.max(1, limit),
    // A debt under a limit of 0 would never end.
    chargeDenied: !kind.readsFirst || (chargeDenied && limit > 0),
    keyEnd: kind.isRecord ? `_${String(periodSeconds)}s~${kind.letter}` : undefined,
    tickMicros,
    periodTicks,
    isNeverMerged: false,
  };
}

/** One instance's share of a limit while `replicas` count alone: rounded down, and at least 1, so that no instance is shut. */
export function shareOf(limiter: Limiter, replicas: number): Limiter {
  const of = (hits: number): number => (hits === 0 ? 0 : Math.max(1, Math.floor(hits / replicas)));
  const limit = of(limiter.limit);
  return { ...limiter, limit, size: of(limiter.size), drain: Math.max(1, limit) };
}

/** Whether counters hold more than the count of a window, see `Kind`. */
export function isRecord(limiter: Limiter): limiter is Limiter<CounterState> {
  return limiter.kind.isRecord;
}

/** The burst size, where it exceeds the limit. */
export function burstOf({ kind, size }: Limiter): number | undefined {
  return kind.hasBurst ? size : undefined;
}

/** A counter that was never used. */
export function unused<S extends Reading>(limiter: Limiter<S>, nowTick: number): S {
  return limiter.kind.ofHits(limiter, 0, nowTick);
}

/** Whole hits that would be admitted now. */
export function freeHits<S extends Reading>(limiter: Limiter<S>, reading: S): number {
  return Math.max(0, Math.floor(limiter.kind.free(limiter, reading) / limiter.periodTicks));
}

/** Hits in use, a partial hit counted as one; above the limit after the limit was lowered. */
export function usedHits<S extends Reading>(limiter: Limiter<S>, reading: S): number {
  return limiter.size + Math.ceil(-limiter.kind.free(limiter, reading) / limiter.periodTicks);
}

/** Whether a counter is equivalent to a missing one: its key is deleted. */
export function isUnused({ used, previous }: CounterState): boolean {
  return used === 0 && previous === 0;
}

/** A key outlives its content by this, so that no answer depends on when a store expires keys. */
const SPARE_MS = 1_000;

/** Milliseconds for which a record is kept after it was written. */
export function lifetimeMs<S extends Reading>(limiter: Limiter<S>, reading: S): number {
  return millisOfTicks(limiter.kind.ticksOfLife(limiter, reading), limiter.tickMicros) + SPARE_MS;
}
