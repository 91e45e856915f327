import type { RuleLimit } from '../rules/rules';

/** What becomes of hits, each with its statistic, in the order in which these are written. */
export const FIGURES = [
  ['totalHits', 'total_hits'],
  /** Hits given back. */
  ['totalNegativeHits', 'total_negative_hits'],
  ['overLimit', 'over_limit'],
  ['nearLimit', 'near_limit'],
  ['withinLimit', 'within_limit'],
  ['shadowMode', 'shadow_mode'],
  ['overLimitWithLocalCache', 'over_limit_with_local_cache'],
] as const;

export type Figure = (typeof FIGURES)[number][0];

/** Hits by what became of them. */
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

/** What becomes of hits under budgets, each with its statistic (budgets.md sections 3, 4 and 6). */
export const BUDGET_FIGURES = [
  /** Hits that were held. */
  ['reserved', 'reserved'],
  /** Hits that were charged in place of held ones. */
  ['settled', 'settled'],
  /** Hits whose lease was over. */
  ['lapsed', 'lapsed'],
  /** Calls that settled what was not open. */
  ['settledUnknown', 'settled_unknown'],
  /** Blocks that began. */
  ['blocks', 'blocks'],
  /** Hits that a block refused. */
  ['blocked', 'blocked'],
  /** Hits that one limit of several refused, under `<metric>.limit_<name>`. */
  ['overOneLimit', 'over_limit'],
] as const;

export type BudgetFigure = (typeof BUDGET_FIGURES)[number][0];

/** What one call added to a figure. */
export interface BudgetLine {
  readonly metric: string;
  readonly figure: BudgetFigure;
  readonly by: number;
}

/** Those of one descriptor. */
export interface DescriptorStats extends Figures {
  /** The limit that applied: the rule's own object, or one made for a limit in the request. */
  readonly limit: RuleLimit;
  readonly metric: string;
}
