import type { BudgetOutcome } from '../budgets/outcome';
import type { Reservation } from '../kinds/kind';
import type { DescriptorHit } from '../planning/plan';
import { hasSeveral } from '../rules/rules';
import type { BudgetFigure, BudgetLine } from './figures';

const NONE: readonly BudgetLine[] = [];

/** Statistics of a descriptor of a rule with a budget, besides its hits. */
export function budgetLines(
  hit: DescriptorHit,
  outcome: BudgetOutcome,
  reservation: Reservation | undefined,
): readonly BudgetLine[] {
  const { isOver, reserved, settled, lapsed, blocksBegun, blockedHits } = outcome;
  const settledUnknown = isUnknown(outcome, reservation) ? 1 : 0;
  const most = Math.max(reserved, settled, lapsed, settledUnknown, blocksBegun, blockedHits);
  // The common case: nothing is reserved.
  if (most <= 0 && !isOver) return NONE;
  const { metric } = hit;
  const lines: BudgetLine[] = [];
  const add = (figure: BudgetFigure, by: number): void => {
    if (by > 0) lines.push({ metric, figure, by });
  };
  add('reserved', reserved);
  add('settled', settled);
  add('lapsed', lapsed);
  add('settledUnknown', settledUnknown);
  add('blocks', blocksBegun);
  add('blocked', blockedHits);
  if (isOver) lines.push(...linesOfLimits(hit, outcome));
  return lines;
}

/** A settle with its own hits, of a reservation that is not open. */
function isUnknown({ settled }: BudgetOutcome, reservation: Reservation | undefined): boolean {
  return reservation?.mode === 'settle' && reservation.saysHits && settled === -1;
}

/** A single limit has no line: it would repeat its rule's. */
function linesOfLimits(
  { metric, limit, hits }: DescriptorHit,
  { entries }: BudgetOutcome,
): readonly BudgetLine[] {
  const { budget } = limit;
  if (budget === undefined || !hasSeveral(budget) || hits <= 0) return [];
  return entries.flatMap(({ isOver }, at) => {
    const name = `${metric}.limit_${String(budget.names[at])}`;
    return isOver ? [{ metric: name, figure: 'overOneLimit' as const, by: hits }] : [];
  });
}
