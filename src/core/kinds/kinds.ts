import { count, fixed } from './window';
import { compileLimiter, type LimiterDefinition } from './limiter';
import { gcra } from './gcra';
import type { Limiter, Kind } from './kind';
import { sliding } from './sliding';
import { slidingLog } from './sliding-log';

/** The table: a kind of limit is one object, its Lua and an entry here. The first entry with a name serves rules without an algorithm. */
export const KINDS = [count, fixed, gcra, slidingLog, sliding] as const;

/** Their names in rule files. */
export type AlgorithmName = (typeof KINDS)[number]['words']['name'];

/** The kind for this algorithm and `charge_denied`; without a limit the kind for large ones. */
export function kindOf({
  algorithm = count.words.name,
  chargeDenied,
  limit = Infinity,
}: {
  readonly algorithm?: AlgorithmName | undefined;
  readonly chargeDenied?: boolean | undefined;
  readonly limit?: number | undefined;
}): Kind {
  const kinds: readonly Kind[] = KINDS;
  const found = kinds.find(
    ({ words, serves }) => words.name === algorithm && serves(chargeDenied, limit),
  );
  return found ?? count;
}

/** How a rule counts. */
export function toLimiter(
  definition: LimiterDefinition & { readonly algorithm?: AlgorithmName | undefined },
): Limiter {
  return compileLimiter(kindOf(definition), definition);
}

/** The limiter of a plain window. */
export function plainLimiter(limit: number): Limiter {
  return compileLimiter(count, { limit, periodSeconds: 0 });
}
