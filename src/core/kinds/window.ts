import type { KindRange } from './kind';

/** Counters of windows are integers of 64 bits in every store; a limit is a uint32. */
export const WINDOW_RANGE: KindRange = {
  maxLimit: 4_294_967_295,
  maxPeriodSeconds: Infinity,
  hasCalendar: true,
};

/** A count needs no clock of its own: one unit per hit, none freed by time. */
export const WINDOW_TICKS = { tickMicros: 1_000_000, periodTicks: 1 } as const;

export const nothing = (): number => 0;
