import type { Random } from './random';

/** One thing that is fuzzed. */
export interface Target {
  readonly name: string;
  /** An input for one execution. */
  make(random: Random): Buffer;
  /** Throws when the input shows a fault. `random` decides on cuts, actions and options. */
  check(input: Buffer, random: Random): void;
}

/** Places where octets are cut: none, some, or all of them. */
export function someCuts(random: Random, length: number): number[] {
  const places = Array.from({ length: random.below(20) + 1 }, () => random.below(length + 1));
  return places.sort((one, other) => one - other);
}

export function everyCut(length: number, step: number): number[] {
  return Array.from({ length: Math.floor(length / step) }, (_, index) => (index + 1) * step);
}

export function expectSame(what: string, one: string, other: string): void {
  if (one === other) return;
  let at = 0;
  while (one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  throw new Error(`${what}: "${one.slice(from, at + 60)}" is not "${other.slice(from, at + 60)}"`);
}
