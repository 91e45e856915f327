import type { RuleLimit } from '../rules/rules';

/** The possible outcomes of hits, each with its statistic, in the order of output. */
export const FIGURES = [
  ['totalHits', 'total_hits'],
  /** Refunded hits. */
  ['totalNegativeHits', 'total_negative_hits'],
  ['overLimit', 'over_limit'],
  ['nearLimit', 'near_limit'],
  ['withinLimit', 'within_limit'],
  ['shadowMode', 'shadow_mode'],
  ['overLimitWithLocalCache', 'over_limit_with_local_cache'],
] as const;

export type Figure = (typeof FIGURES)[number][0];

/** Number of hits per outcome. */
export type Figures = Readonly<Record<Figure, number>>;

export const NO_FIGURES: Figures = {
  totalHits: 0,
  totalNegativeHits: 0,
  overLimit: 0,
  nearLimit: 0,
  withinLimit: 0,
  shadowMode: 0,
  overLimitWithLocalCache: 0,
};

/** The outcomes of hits under budgets, each with its statistic (budgets.md sections 3, 4 and 6). */
export const BUDGET_FIGURES = [
  /** Reserved hits. */
  ['reserved', 'reserved'],
  /** Hits charged in place of reserved ones. */
  ['settled', 'settled'],
  /** Hits whose lease expired. */
  ['lapsed', 'lapsed'],
  /** Settles of reservations that were not open. */
  ['settledUnknown', 'settled_unknown'],
  /** Blocks that began. */
  ['blocks', 'blocks'],
  /** Hits that a block refused. */
  ['blocked', 'blocked'],
  /** Hits refused by one limit of several, under `<metric>.limit_<name>`. */
  ['overOneLimit', 'over_limit'],
] as const;

export type BudgetFigure = (typeof BUDGET_FIGURES)[number][0];

/** What one call added to a figure. */
export interface BudgetLine {
  readonly metric: string;
  readonly figure: BudgetFigure;
  readonly by: number;
}

/** The figures of one descriptor. */
export interface DescriptorStats extends Figures {
  /** The limit that applied: the rule's own object, or one made for a limit in the request. */
  readonly limit: RuleLimit;
  readonly metric: string;
}
