/**
 * Microseconds per item of `run`, over many bursts; what `make` does is not counted. The median of
 * several rounds after a warm-up, since a shared machine disturbs single ones.
 */
export function measure<T>(
  perBurst: number,
  make: () => T,
  run: (burst: T) => void,
  { rounds = 9, bursts = 500 } = {},
): number {
  const round = () => {
    let spent = 0n;
    for (let i = 0; i < bursts; i++) {
      const burst = make();
      const before = process.hrtime.bigint();
      run(burst);
      spent += process.hrtime.bigint() - before;
    }
    return Number(spent) / 1_000 / (bursts * perBurst);
  };
  for (let i = 0; i < 3; i++) round();
  return median(Array.from({ length: rounds }, round));
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
