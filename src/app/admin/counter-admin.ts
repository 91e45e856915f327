import type { Snapshot } from '../../../streams';
import { isBudgetLimiter } from '../../core/budgets/budget';
import { failure, settled, StoreError, type Failure } from '../../core/errors';
import type { BudgetFields, LimitSource } from '../../core/explain/explanation';
import { ageSeconds, budgetFields, limitSource } from '../../core/explain/limit-fields';
import { entryTexts } from '../../core/explain/explain-path';
import type { DecisionRequest } from '../../core/model';
import { windowsAt } from '../../core/planning/windows';
import { findCounters } from '../../core/planning/plan';
import { readValueLimits } from '../../core/planning/value-limit';
import type { Clock, CounterReading, Increment, LimitsFrom, Statistics } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import { requestOfTokens } from '../../core/rules/secrets';
import type { Logger } from '../../platform/logger';
import type { OperatorStore } from '../store/store';

/** One counter, or a descriptor that has none. */
export interface ShownCounter extends Partial<BudgetFields> {
  readonly entries: readonly string[];
  /** Null where no limit applies. */
  readonly key: string | null;
  readonly store?: string | undefined;
  readonly limitsFrom?: LimitSource;
  readonly count?: number | undefined;
  /** Undefined: the counter is missing, or its store does not report it. */
  readonly expiresInSeconds?: number | undefined;
  readonly error?: string | undefined;
}

/** A change of counters, and its caller. */
export interface CounterChange {
  /** The hits to set the counters to; undefined: they are deleted. */
  readonly used: number | undefined;
  /** For a rule with several limits the one to set; undefined: all of them. */
  readonly limit: string | undefined;
  /** Open reservations end too, uncharged. */
  readonly open: boolean;
  /** Shows the current values, and changes nothing. */
  readonly dryRun: boolean;
  /** Also where other instances would not be notified. */
  readonly force: boolean;
  readonly peer: string;
  readonly tokenId: string | undefined;
}

export interface CounterAdminDeps {
  readonly rules: Snapshot<Rules | undefined>;
  /** What operators read until the first load. */
  readonly whyNoRules: { readonly current: string };
  readonly store: Omit<OperatorStore, 'listOver'>;
  readonly clock: Clock;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
}

export interface CounterAdminOptions {
  /** CACHE_KEY_PREFIX. */
  readonly keyPrefix: string;
  readonly limitsFrom?: LimitsFrom | undefined;
  /** Other instances count in the same store. */
  readonly isShared: boolean;
}

/** A request, and of each of its descriptors the counter; undefined: no limit applies to it. */
interface Found {
  readonly request: DecisionRequest;
  readonly increments: readonly (Increment | undefined)[];
}

const WRITES = 'ratelimit.admin.writes';

/** Reads and changes counters, found as a decision finds them. Every change is one line in the log. */
export function createCounterAdmin(
  { rules, whyNoRules, store, clock, statistics, logger }: CounterAdminDeps,
  options: CounterAdminOptions,
) {
  const { reader, writer, localCache, leases, publishInvalidation, listOpen } = store;

  const find = async (asked: DecisionRequest): Promise<Found | Failure> => {
    const { current } = rules;
    const request = requestOfTokens(current?.secrets, asked);
    if (current === undefined) return failure('no_rules', whyNoRules.current);
    await readValueLimits(current, request, options.limitsFrom);
    const windows = windowsAt(Math.floor(clock()));
    const increments = findCounters(current, request, windows, options);
    if (typeof increments === 'string') return failure('invalid_request', increments);
    return { request, increments };
  };

  const show = async ({ request, increments }: Found): Promise<readonly ShownCounter[]> => {
    const readings = (await reader.read(present(increments))).values();
    return request.descriptors.map(({ entries }, at) => {
      const increment = increments[at];
      const secrets = rules.current?.secrets;
      const shown = entryTexts(secrets, entries);
      if (increment === undefined) return { entries: shown, key: null };
      const reading = readings.next().value as CounterReading;
      const { store: place, count, expiresInSeconds, error } = reading;
      const { rule } = increment;
      const read =
        error === undefined
          ? { count, ...budgetFields(rule, reading, Math.floor(clock())), expiresInSeconds }
          : { error: error.message };
      const source = limitSource(rule, entries, secrets);
      return { entries: shown, key: increment.key, store: place, ...source, ...read };
    });
  };

  const openOf = async (increment: Increment | undefined, most: number) => {
    const { limiter } = increment ?? {};
    if (increment === undefined || limiter === undefined || !isBudgetLimiter(limiter)) return [];
    const { reserve } = limiter.budget;
    if (reserve === undefined || listOpen === undefined) return [];
    const listed = await listOpen(increment, most);
    return listed.map(({ id, hits, endsInMs }) => ({
      id,
      /** Reserved hits. */
      hits,
      /** By the rule's current lease. */
      ageSeconds: ageSeconds(reserve, endsInMs),
      /** Until its lease expires. */
      endsInSeconds: Math.ceil(endsInMs / 1_000),
    }));
  };

  const write = async (
    counters: readonly Increment[],
    { used, open, limit }: CounterChange,
  ): ReturnType<typeof writer.remove> => {
    const failures =
      used === undefined
        ? await writer.remove(counters, { withOpen: open })
        : await writer.set(counters, used, clock(), limit);
    // Includes failed ones: they may have been changed all the same.
    const keys = counters.map(({ key }) => key);
    localCache?.forgetKeys(keys);
    leases?.forget(keys);
    publishInvalidation?.(counters, true);
    return failures;
  };

  const log = (
    { domain }: DecisionRequest,
    { used, open, limit, peer, tokenId }: CounterChange,
    shown: readonly ShownCounter[],
  ): void => {
    statistics.count(WRITES, 1);
    const message = used === undefined ? 'counters were reset' : 'counters were set';
    logger.warn(message, {
      peer,
      ...(tokenId !== undefined && { token: tokenId }),
      domain,
      descriptors: shown.map(({ entries }) => entries.join(',')),
      ...(limit !== undefined && { limit }),
      ...(open && { open: shown.map((one) => one.open ?? null) }),
      before: shown.map(({ count = null }) => count),
      after: shown.map(({ key, error }) =>
        key === null || error !== undefined ? null : (used ?? 0),
      ),
    });
  };

  return {
    async read(asked: DecisionRequest): Promise<readonly ShownCounter[] | Failure> {
      const found = await find(asked);
      return 'kind' in found ? found : show(found);
    },
    /** The counter of the first descriptor with its open reservations, at most `most`; without them where they could not be read. */
    async open(asked: DecisionRequest, most: number) {
      const found = await find(asked);
      if ('kind' in found) return found;
      const [shown] = await show(found);
      const listed = await settled(() => openOf(found.increments[0], most));
      const list =
        listed instanceof StoreError ? { error: listed.message } : { reservations: listed };
      return { ...(shown as ShownCounter), ...list };
    },
    /** Returns the values before the change. */
    async change(
      asked: DecisionRequest,
      change: CounterChange,
    ): Promise<readonly ShownCounter[] | Failure | 'not_published'> {
      const found = await find(asked);
      if ('kind' in found) return found;
      const counters = present(found.increments);
      const fault = faultOfLimit(counters, change.limit);
      if (fault !== undefined) return failure('invalid_request', fault);
      if (change.dryRun || counters.length === 0) return show(found);
      const isKnownElsewhere =
        localCache !== undefined || counters.some(({ rule }) => rule.isLeased);
      const isHeard = !isKnownElsewhere || !options.isShared || publishInvalidation !== undefined;
      if (!isHeard && !change.force) return 'not_published';
      const before = await show(found);
      const failures = (await write(counters, change)).values();
      const changed = before.map((shown, at) => {
        if (found.increments[at] === undefined) return shown;
        const failed = failures.next().value;
        return failed === undefined ? shown : { ...shown, error: failed.message };
      });
      log(found.request, change, changed);
      return changed;
    },
  };
}

export type CounterAdmin = ReturnType<typeof createCounterAdmin>;

function present(increments: Found['increments']): readonly Increment[] {
  return increments.filter((one) => one !== undefined);
}

/** Why a limit of this name cannot be set for all of these counters; undefined: it can, or none is named. */
function faultOfLimit(
  counters: readonly Increment[],
  limit: string | undefined,
): string | undefined {
  if (limit === undefined) return undefined;
  const subject = `limit is ${JSON.stringify(limit)}`;
  for (const { limiter, rule } of counters) {
    const { names } = rule.budget ?? {};
    if (names === undefined || !isBudgetLimiter(limiter))
      return `${subject}, but the rule ${rule.metric} has no rate_limits: leave it out`;
    const at = names.indexOf(limit);
    if (at === -1) return `${subject}, expected one of ${names.join(', ')}`;
    if (limiter.budget.entries[at]?.isSlots === true)
      return `${subject}, which counts open reservations: reset with "open": true ends them`;
  }
  return undefined;
}
