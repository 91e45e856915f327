import type { BudgetOutcome } from '../budgets/outcome';
import type { Reservation } from '../kinds/kind';
import type { DescriptorHit } from '../planning/plan';
import type { BudgetFigure, BudgetLine } from './figures';

/** What a descriptor of a rule with a budget counts besides its hits. */
export function budgetLines(
  hit: DescriptorHit,
  outcome: BudgetOutcome,
  reservation: Reservation | undefined,
): readonly BudgetLine[] {
  const { metric } = hit;
  const { reserved, settled, lapsed, blocksBegun, blockedHits } = outcome;
  const all: readonly (readonly [BudgetFigure, number])[] = [
    ['reserved', reserved],
    ['settled', settled],
    ['lapsed', lapsed],
    ['settledUnknown', isUnknown(outcome, reservation) ? 1 : 0],
    ['blocks', blocksBegun],
    ['blocked', blockedHits],
  ];
  const lines = all.map(([figure, by]): BudgetLine => ({ metric, figure, by }));
  return [...lines, ...linesOfLimits(hit, outcome)].filter(({ by }) => by > 0);
}

/** A settle with hits of its own of what was not open. */
function isUnknown({ settled }: BudgetOutcome, reservation: Reservation | undefined): boolean {
  return reservation?.mode === 'settle' && reservation.saysHits && settled === -1;
}

/** One limit alone says no more than its rule. */
function linesOfLimits(
  { metric, limit, hits }: DescriptorHit,
  { entries }: BudgetOutcome,
): readonly BudgetLine[] {
  const names = limit.budget?.names ?? [];
  if (names.length < 2) return [];
  return entries.flatMap(({ isOver }, at) => {
    const name = `${metric}.limit_${String(names[at])}`;
    return isOver ? [{ metric: name, figure: 'overOneLimit' as const, by: hits }] : [];
  });
}
