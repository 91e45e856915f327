import type { GateDefinition } from '../../src/core/kinds/gate';
import type { CounterState, Gate, State } from '../../src/core/kinds/kind';
import { KINDS, plainGate, toGate, type AlgorithmName } from '../../src/core/kinds/kinds';

/** The gate of a kind that looks before it charges. */
export type StateGate = Gate<CounterState>;

export function gateOf({
  name,
  ...definition
}: GateDefinition & { readonly name: AlgorithmName }): StateGate {
  const gate = toGate({ ...definition, algorithm: name });
  if (!gate.kind.looks) throw new Error('a plain window');
  return gate as StateGate;
}

/** The names of all kinds of the table that look. */
export const LOOKING_NAMES = KINDS.filter(({ looks }) => looks).map(({ words }) => words.name);

export function nameOf({ kind }: Gate): string {
  return kind.words.name;
}

/** What every increment of a plain window has. */
export function plain(limit: number) {
  return { limit, gate: plainGate(limit), times: 1 };
}

/** The states of counters that have one limit. */
export function counterStates(
  states: readonly (State | undefined)[] | undefined,
): readonly (CounterState | undefined)[] | undefined {
  return states as readonly (CounterState | undefined)[] | undefined;
}
