import { type RuleLimit, hasSeveral } from '../rules/rules';
import type { DescriptorHit, Unmet } from '../planning/plan';
import type { StoreError } from '../errors';
import type { BudgetOutcome } from '../budgets/outcome';
import type { Reservation } from '../kinds/kind';

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

/** What statistics count per batch, as plain numbers. */
export interface BatchStats {
  /** One line for each descriptor with a limit. */
  readonly rules: readonly DescriptorStats[];
  /** Additional counts of rules with budgets; undefined: none. */
  readonly budgets?: readonly BudgetLine[] | undefined;
  readonly unmet: Unmet;
  /** Requests that were invalid, or came before the first rules. */
  readonly serviceErrors: number;
  /** Requests whose counting failed in the store, also those that were answered all the same. */
  readonly storeErrors: number;
  /** Timeouts among `storeErrors`. */
  readonly storeTimeouts: number;
  /** Those among `storeErrors` that the open circuit breaker refused without a call. */
  readonly breakerOpen: number;
  /** Those among `storeErrors` that `on_store_error` answered. */
  readonly answeredLocally: number;
  /** Why the store failed; undefined when no request failed for that reason. */
  readonly outage?: string | undefined;
  /** Requests whose overall code SHADOW_MODE turned to OK. */
  readonly globalShadowMode: number;
  readonly requests: number;
  /** Requests whose caller left before the decision; a failed request is counted as a failure only. */
  readonly abandoned: number;
}

/** Gathers the statistics of a batch while its answers are made. */
export class BatchStatsBuilder implements BatchStats {
  readonly rules: DescriptorStats[] = [];
  budgets: BudgetLine[] | undefined;
  readonly unmet: Unmet;
  serviceErrors = 0;
  storeErrors = 0;
  storeTimeouts = 0;
  breakerOpen = 0;
  answeredLocally = 0;
  outage: string | undefined;
  globalShadowMode = 0;
  abandoned = 0;
  readonly requests: number;

  constructor(unmet: Unmet, requests: number) {
    this.unmet = unmet;
    this.requests = requests;
  }

  /** Counts a request that failed for another reason than the store. */
  failed(): void {
    this.serviceErrors += 1;
  }

  /** Counts a request whose counting failed in the store. */
  storeFailed({ code, fault, message }: StoreError, wasAnswered: boolean): void {
    this.storeErrors += 1;
    if (code === 'store_timeout') this.storeTimeouts += 1;
    if (fault === 'breaker') this.breakerOpen += 1;
    if (wasAnswered) this.answeredLocally += 1;
    else if (fault !== 'key') this.outage = message;
  }

  /** Adds the digits that hits above 2^53 lost as numbers: they are over any limit. */
  lostDigits({ metric, limit, hits }: DescriptorHit, exact: bigint): void {
    const lost = Number(exact - BigInt(hits));
    const shadowMode = limit.shadowMode ? lost : 0;
    this.rules.push({ ...NO_FIGURES, limit, metric, totalHits: lost, overLimit: lost, shadowMode });
  }

  /** Hits of a request that failed: counted, but neither over nor within. */
  hitsOnly(hit: DescriptorHit | undefined): void {
    if (hit === undefined) return;
    const { limit, metric, hits } = hit;
    const totalNegativeHits = Math.max(-hits, 0);
    const totalHits = Math.max(hits, 0);
    this.rules.push({ ...NO_FIGURES, limit, metric, totalHits, totalNegativeHits });
  }
}

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
