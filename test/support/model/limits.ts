/**
 * Limits as docs/algorithms.md promises them, in whole numbers: hits times milliseconds of the period. Written from that page, without
 * the tricks of the product; stores are held against it.
 */
export interface LimitSpec {
  readonly kind: 'fixed' | 'gcra' | 'sliding' | 'in_flight';
  readonly limit: number;
  readonly periodMs: number;
  /** Of gcra. */
  readonly burst: number;
  /** Whether what is refused is charged all the same. */
  readonly chargeDenied: boolean;
}

/** One limit at a time that only goes forward. */
export interface LimitModel {
  readonly spec: LimitSpec;
  /** Hits that fit beside what is charged, as a fraction of a period: below 0 in debt. */
  roomScaled(nowMs: number): number;
  /** The most that ever fits, scaled alike. */
  readonly sizeScaled: number;
  charge(hits: number, nowMs: number): void;
}

export function createLimit(spec: LimitSpec): LimitModel {
  const { kind, limit, periodMs } = spec;
  if (kind === 'gcra') return bucket(spec);
  if (kind === 'sliding') return limit <= 64 ? slidingLog(spec) : slidingWindow(spec);
  return fixedWindow(spec, kind === 'in_flight' ? Infinity : periodMs);
}

/** Counts from one multiple of the period to the next. */
function fixedWindow(spec: LimitSpec, periodMs: number): LimitModel {
  const scale = spec.periodMs;
  let start = -Infinity;
  let count = 0;
  const at = (nowMs: number): void => {
    const now = Math.floor(nowMs / periodMs) * periodMs;
    if (now !== start) [start, count] = [now, 0];
  };
  return {
    spec,
    sizeScaled: spec.limit * scale,
    roomScaled(nowMs) {
      at(nowMs);
      return (spec.limit - count) * scale;
    },
    charge(hits, nowMs) {
      at(nowMs);
      count = Math.max(0, count + hits);
    },
  };
}

/** A bucket of `burst` that drains `limit` a period, evenly. */
function bucket(spec: LimitSpec): LimitModel {
  let used = 0;
  let last = 0;
  const at = (nowMs: number): void => {
    used = Math.max(0, used - spec.limit * (nowMs - last));
    last = nowMs;
  };
  return {
    spec,
    sizeScaled: spec.burst * spec.periodMs,
    roomScaled(nowMs) {
      at(nowMs);
      return spec.burst * spec.periodMs - used;
    },
    charge(hits, nowMs) {
      at(nowMs);
      used = Math.max(0, used + hits * spec.periodMs);
    },
  };
}

/** Each hit for exactly one period; 64 at most. */
function slidingLog(spec: LimitSpec): LimitModel {
  let moments: number[] = [];
  const at = (nowMs: number): void => {
    moments = moments.filter((moment) => nowMs < moment + spec.periodMs);
  };
  return {
    spec,
    sizeScaled: spec.limit * spec.periodMs,
    roomScaled(nowMs) {
      at(nowMs);
      return (spec.limit - moments.length) * spec.periodMs;
    },
    charge(hits, nowMs) {
      at(nowMs);
      const room = 64 - moments.length;
      for (let hit = 0; hit < Math.min(hits, room); hit += 1) moments.push(nowMs);
    },
  };
}

/** The window of now, and the hits of the one before it as points at even distances, the first at its start. */
function slidingWindow(spec: LimitSpec): LimitModel {
  const { limit, periodMs } = spec;
  let start = -Infinity;
  let before = 0;
  let count = 0;
  const at = (nowMs: number): void => {
    const now = Math.floor(nowMs / periodMs) * periodMs;
    if (now === start) return;
    [before, count] = [now === start + periodMs ? count : 0, 0];
    start = now;
  };
  return {
    spec,
    sizeScaled: limit * periodMs,
    roomScaled(nowMs) {
      at(nowMs);
      const fading = before * (periodMs - (nowMs - start)) - periodMs;
      return (limit - count) * periodMs - Math.max(0, fading);
    },
    charge(hits, nowMs) {
      at(nowMs);
      count += hits;
    },
  };
}
