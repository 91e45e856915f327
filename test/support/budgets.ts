import type {
  BlockDefinition,
  LimitDefinition,
  ReserveDefinition,
} from '../../src/core/rules/definition';
import type { RuleSketch } from './rules';

interface BudgetSketch {
  readonly reserve?: Partial<ReserveDefinition>;
  readonly block?: Partial<BlockDefinition>;
}

/** A limit as a test writes it: hits per unit, and what else it says. */
export type LimitSketch = Partial<Omit<LimitDefinition, 'block'>> & {
  readonly block?: Partial<BlockDefinition>;
};

/** What a rule with these limits says besides its key. */
export function budgetOf(
  limits: readonly LimitSketch[],
  { reserve, block }: BudgetSketch = {},
): Pick<RuleSketch, 'limit' | 'budget'> {
  const all = limits.map(limitOf);
  return {
    limit: all[0] as LimitDefinition,
    budget: {
      limits: all,
      reserve: reserve && { leaseMs: 600_000, unsettled: 'charge', ...reserve },
      block: block && blockOf(block),
    },
  };
}

/** Requests in flight, at most so many. */
export function inFlight(requestsPerUnit: number): LimitSketch {
  return { requestsPerUnit, unit: undefined, isInFlight: true };
}

function limitOf({ block, ...limit }: LimitSketch): LimitDefinition {
  const plain = { unlimited: false, name: '', replaces: [], requestsPerUnit: 1, unit: undefined };
  return { ...plain, ...limit, block: block && blockOf(block) };
}

function blockOf(block: Partial<BlockDefinition>): BlockDefinition {
  const { forMs = 60_000 } = block;
  return { after: 1, withinMs: forMs, forMs, upToMs: forMs, ...block };
}
