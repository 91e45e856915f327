const STEP_MICROS = 2;
const STEPS = 500_000;

/** Latencies in steps of 2 µs up to a second. */
export interface Latencies {
  readonly record: (micros: number) => void;
  /** The latency in ms that a share (0 to 1) does not exceed. */
  readonly quantile: (share: number) => number;
  readonly clear: () => void;
}

export function createLatencies(): Latencies {
  const counts = new Uint32Array(STEPS);
  let count = 0;
  return {
    record(micros) {
      const step = Math.min(STEPS - 1, Math.max(0, micros / STEP_MICROS)) | 0;
      counts[step] = (counts[step] as number) + 1;
      count += 1;
    },
    quantile(share) {
      let left = Math.ceil(count * share);
      const step = counts.findIndex((times) => (left -= times) <= 0);
      return (step * STEP_MICROS) / 1_000;
    },
    clear() {
      counts.fill(0);
      count = 0;
    },
  };
}
