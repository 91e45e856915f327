/** Allows so many calls in each second of a clock that only goes forward. */
export function createAllowance(perSecond: number, monotonicMs: () => number): () => boolean {
  let startMs = -Infinity;
  let left = 0;
  return () => {
    const nowMs = monotonicMs();
    if (nowMs - startMs >= 1_000) {
      startMs = nowMs;
      left = perSecond;
    }
    left -= 1;
    return left >= 0;
  };
}
