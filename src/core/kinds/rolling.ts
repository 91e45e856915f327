import type { Gate, KindRange, KindWords } from './kind';

/** What counts in ticks of its own; twice as large a limit still counts exactly. */
export const ROLLING_RANGE: KindRange = {
  maxLimit: 50_000_000,
  maxPeriodSeconds: 90_000_000,
  hasCalendar: false,
};

/** Windows charge what they refuse, these do not: only the other way round has to be said. */
export function rollingWords<N extends string>(name: N, own: (gate: Gate) => string) {
  const ofGate = (gate: Gate): readonly string[] =>
    gate.chargeDenied ? [own(gate), 'refused hits are charged'] : [own(gate)];
  return { name, feature: `algorithm: ${name}`, ofGate } satisfies KindWords;
}

/** The numbers of a value that is nothing but numbers, with one space between. */
export function numbersIn(value: string): readonly number[] {
  return /^\d+(?: \d+)*$/.test(value) ? value.split(' ').map(Number) : [];
}
