import type { LimiterDefinition } from '../../src/core/kinds/limiter';
import type { CounterState, Limiter, State } from '../../src/core/kinds/kind';
import { KINDS, plainLimiter, toLimiter, type AlgorithmName } from '../../src/core/kinds/kinds';

/** The limiter of a kind that reads before it charges. */
export type StateLimiter = Limiter<CounterState>;

export function limiterOf({
  name,
  ...definition
}: LimiterDefinition & { readonly name: AlgorithmName }): StateLimiter {
  const limiter = toLimiter({ ...definition, algorithm: name });
  if (!limiter.kind.readsFirst) throw new Error('a plain window');
  return limiter as StateLimiter;
}

/** The names of all kinds of the table that look. */
export const READ_FIRST_NAMES = KINDS.filter(({ readsFirst }) => readsFirst).map(
  ({ words }) => words.name,
);

export function nameOf({ kind }: Limiter): string {
  return kind.words.name;
}

/** What every increment of a plain window has. */
export function plain(limit: number) {
  return { limit, limiter: plainLimiter(limit), times: 1 };
}

/** The states of counters that have one limit. */
export function counterStates(
  states: readonly (State | undefined)[] | undefined,
): readonly (CounterState | undefined)[] | undefined {
  return states as readonly (CounterState | undefined)[] | undefined;
}
