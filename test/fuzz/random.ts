/** Randomness that a seed repeats. */
export interface Random {
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number;
  /** True once in so many times. */
  oneIn(times: number): boolean;
  pick<T>(list: readonly T[]): T;
  bytes(length: number): Buffer;
}

/** mulberry32: 32 bits of state are enough to tell runs apart, and it is fast. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => (limit < 2 ? 0 : next() % limit);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (list) => {
      if (list.length === 0) throw new Error('there is nothing to pick from');
      return list[below(list.length)] as (typeof list)[number];
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => next() & 0xff)),
  };
}

/** A seed for the n-th execution of a run, far from that of its neighbours. */
export function seedOf(run: number, execution: number): number {
  return (Math.imul(run, 0x9e3779b1) ^ Math.imul(execution + 1, 0x85ebca6b)) >>> 0;
}
