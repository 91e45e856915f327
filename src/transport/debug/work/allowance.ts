/** The share of the time that work may take. */
const SHARE = 0.1;
/** What unused time adds up to. */
const BURST_MS = 500;

/** Milliseconds that work may take: a bucket that fills with time and empties with work. */
export interface Allowance {
  spend(workMs: number): void;
  /** Until so many milliseconds of work are allowed; 0: something is left. */
  waitMs(workMs: number): number;
}

export function createAllowance(monotonicMs: () => number): Allowance {
  let leftMs = BURST_MS;
  let filledMs = monotonicMs();
  const fill = (): void => {
    const nowMs = monotonicMs();
    leftMs = Math.min(BURST_MS, leftMs + (nowMs - filledMs) * SHARE);
    filledMs = nowMs;
  };
  return {
    spend(workMs) {
      fill();
      leftMs -= workMs;
    },
    waitMs(workMs) {
      fill();
      return leftMs > 0 ? 0 : (workMs - leftMs) / SHARE;
    },
  };
}
