import type { DescriptorHit, Unmet } from '../planning/plan';
import type { StoreError } from '../errors';
import { NO_FIGURES, type BudgetLine, type DescriptorStats } from './figures';

/** What statistics count of one batch, as plain numbers. */
export interface BatchStats {
  /** One line for each descriptor that a limit applied to. */
  readonly rules: readonly DescriptorStats[];
  /** What rules with budgets count besides; undefined: nothing. */
  readonly budgets?: readonly BudgetLine[] | undefined;
  readonly unmet: Unmet;
  /** Requests that made no sense, or came before any rules. */
  readonly serviceErrors: number;
  /** Requests that the counter store failed, also those that were answered all the same. */
  readonly storeErrors: number;
  /** Of these: those that it did not answer in time. */
  readonly storeTimeouts: number;
  /** Of these: those that it was not asked for, because the circuit breaker was open. */
  readonly breakerOpen: number;
  /** Of these: those that were answered all the same, as `on_store_error` says. */
  readonly answeredLocally: number;
  /** Why the store counted nothing for a request that failed; undefined when none failed for want of it. */
  readonly outage?: string | undefined;
  /** Requests whose overall code SHADOW_MODE turned to OK. */
  readonly globalShadowMode: number;
  readonly requests: number;
  /** Decisions whose caller went away before them; a request that failed is counted by its failure alone. */
  readonly abandoned: number;
}

/** Gathers the statistics of a batch while its answers are made. */
export class BatchStatsSheet implements BatchStats {
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

  /** A request that failed for another reason than the store. */
  failed(): void {
    this.serviceErrors += 1;
  }

  /** A request that the store failed. */
  storeFailed({ code, fault, message }: StoreError, wasAnswered: boolean): void {
    this.storeErrors += 1;
    if (code === 'store_timeout') this.storeTimeouts += 1;
    if (fault === 'breaker') this.breakerOpen += 1;
    if (wasAnswered) this.answeredLocally += 1;
    else if (fault !== 'key') this.outage = message;
  }

  /** The digits that hits too large for a number lost on their way: all of them are over any limit. */
  lostDigits({ metric, limit, hits }: DescriptorHit, exact: bigint): void {
    const lost = Number(exact - BigInt(hits));
    const shadowMode = limit.shadowMode ? lost : 0;
    this.rules.push({ ...NO_FIGURES, limit, metric, totalHits: lost, overLimit: lost, shadowMode });
  }

  /** Hits of an ask whose request failed: asked for, then neither over nor within. */
  hitsOnly(hit: DescriptorHit | undefined): void {
    if (hit === undefined) return;
    const { limit, metric, hits } = hit;
    const totalNegativeHits = Math.max(-hits, 0);
    const totalHits = Math.max(hits, 0);
    this.rules.push({ ...NO_FIGURES, limit, metric, totalHits, totalNegativeHits });
  }
}
