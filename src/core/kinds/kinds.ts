import { count } from './count';
import { fixed } from './fixed';
import { limitGate, type GateDefinition } from './gate';
import { gcra } from './gcra';
import type { Gate, Kind } from './kind';
import { sliding } from './sliding';

/** The table: a kind of limit is one file, its Lua and a place here. The first of a name is what rules without it are of. */
export const KINDS = [count, fixed, gcra, sliding] as const;

/** What rule files call them. */
export type AlgorithmName = (typeof KINDS)[number]['words']['name'];

/** The kind of limits that say this of how they count. */
export function kindOf({
  algorithm = count.words.name,
  chargeDenied,
}: {
  readonly algorithm?: AlgorithmName | undefined;
  readonly chargeDenied?: boolean | undefined;
}): Kind {
  const kinds: readonly Kind[] = KINDS;
  const found = kinds.find(({ words, serves }) => words.name === algorithm && serves(chargeDenied));
  return found ?? count;
}

/** How a rule counts; a limit of 0 blocks, and needs no more than a count. */
export function toGate(
  definition: GateDefinition & { readonly algorithm?: AlgorithmName | undefined },
): Gate {
  return limitGate(definition.limit === 0 ? count : kindOf(definition), definition);
}

/** The gate of limits that say nothing but so many hits per window. */
export function plainGate(limit: number): Gate {
  return limitGate(count, { limit, periodSeconds: 0 });
}
