import { ticksOf, type Ticks } from './ticks';

export type AlgorithmName = 'fixed_window' | 'gcra' | 'sliding_window';

/** The largest limit and burst under gcra and sliding_window; twice as much still counts exactly. */
export const MAX_PACED_LIMIT = 50_000_000;

/** The longest period under gcra and sliding_window, in seconds. */
export const MAX_PACED_PERIOD_SECONDS = 90_000_000;

/** What a rule says about how it counts. */
export interface AlgorithmDefinition {
  readonly name: AlgorithmName;
  /** Hits per period. */
  readonly limit: number;
  /** gcra alone: the size of the bucket in hits; undefined: the limit. */
  readonly burst: number | undefined;
  /** Whether refused hits are charged; undefined: only by fixed_window. */
  readonly chargeDenied: boolean | undefined;
  readonly periodSeconds: number;
}

/**
 * How a rule counts that looks before it charges, ready for the arithmetic. One shape for all, so that the code which
 * reads it stays fast.
 */
export interface Algorithm extends Ticks {
  readonly name: AlgorithmName;
  /** Hits per period. */
  readonly limit: number;
  /** Hits that fit at once: the burst of gcra, else the limit. */
  readonly size: number;
  readonly chargeDenied: boolean;
  /** The end of its counter keys: `_60s~g`; undefined under fixed_window, whose keys end in the start of the window. */
  readonly keyEnd: string | undefined;
}

/** Undefined: a fixed window that charges what it refuses, or a limit of 0, which blocks without counting. */
export function toAlgorithm(definition: AlgorithmDefinition): Algorithm | undefined {
  const { name, limit, periodSeconds } = definition;
  const chargeDenied = definition.chargeDenied ?? name === 'fixed_window';
  if (limit === 0) return undefined;
  if (name === 'fixed_window') {
    if (chargeDenied) return undefined;
    // A count needs no clock of its own: one unit a hit.
    const ticks: Ticks = { tickMicros: 1_000_000, periodTicks: 1 };
    return { name, limit, size: limit, chargeDenied, keyEnd: undefined, ...ticks };
  }
  const size = name === 'gcra' ? (definition.burst ?? limit) : limit;
  const keyEnd = `_${String(periodSeconds)}s~${name === 'gcra' ? 'g' : 's'}`;
  return { name, limit, size, chargeDenied, keyEnd, ...ticksOf(periodSeconds) };
}

/** Whether a counter holds more than a count: that of gcra or sliding_window. */
export function isRolling(algorithm: Algorithm | undefined): algorithm is Algorithm {
  return algorithm?.keyEnd !== undefined;
}
