import type { Snapshot } from '../../../streams';
import { isBudgetLimiter } from '../../core/budgets/budget';
import { failure, settled, StoreError, type Failure } from '../../core/errors';
import { ageSeconds, budgetFields, limitSource } from '../../core/explain/limit-fields';
import { entryTexts } from '../../core/explain/explain-path';
import type { DecisionRequest } from '../../core/model';
import { windowsAt } from '../../core/planning/windows';
import { findCounters } from '../../core/planning/find-counters';
import { readValueLimits } from '../../core/planning/value-limit';
import type { Clock, CounterReading, Increment, LimitsFrom, Statistics } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import { requestOfTokens } from '../../core/rules/secrets';
import type { Logger } from '../../platform/logger';
import type {
  CounterAdmin,
  CounterChange,
  ShownCounter,
  ShownReservation,
} from '../../transport/debug/admin/counter-endpoints';
import type { OperatorStore } from '../store/store';

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

type Found = readonly (Increment | undefined)[];

const WRITES = 'ratelimit.admin.writes';

/** Reads and changes counters, found as a decision finds them. Every change is one line in the log. */
export function createCounterAdmin(
  { rules, whyNoRules, store, clock, statistics, logger }: CounterAdminDeps,
  options: CounterAdminOptions,
): CounterAdmin {
  const { reader, writer, localCache, leases, publishInvalidation, listOpen } = store;

  const find = async (request: DecisionRequest): Promise<Found | Failure> => {
    const { current } = rules;
    if (current === undefined) return failure('no_rules', whyNoRules.current);
    await readValueLimits(current, request, options.limitsFrom);
    const windows = windowsAt(Math.floor(clock()));
    const found = findCounters(current, request, windows, options);
    return typeof found === 'string' ? failure('invalid_request', found) : found;
  };

  const show = async (request: DecisionRequest, found: Found): Promise<readonly ShownCounter[]> => {
    const readings = (await reader.read(present(found))).values();
    return request.descriptors.map(({ entries }, at) => {
      const increment = found[at];
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

  const openOf = async (
    increment: Increment | undefined,
    most: number,
  ): Promise<readonly ShownReservation[]> => {
    const { limiter } = increment ?? {};
    if (increment === undefined || limiter === undefined || !isBudgetLimiter(limiter)) return [];
    const { reserve } = limiter.budget;
    if (reserve === undefined || listOpen === undefined) return [];
    const listed = await listOpen(increment, most);
    return listed.map(({ id, hits, endsInMs }) => ({
      id,
      hits,
      ageSeconds: ageSeconds(reserve, endsInMs),
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
    if (counters.length > 0) publishInvalidation?.(counters, true);
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
    async read(asked) {
      const request = requestOfTokens(rules.current?.secrets, asked);
      const found = await find(request);
      return 'kind' in found ? found : show(request, found);
    },
    async open(asked, most) {
      const request = requestOfTokens(rules.current?.secrets, asked);
      const found = await find(request);
      if ('kind' in found) return found;
      const [shown] = await show(request, found);
      const listed = await settled(() => openOf(found[0], most));
      const list =
        listed instanceof StoreError ? { error: listed.message } : { reservations: listed };
      return { ...(shown as ShownCounter), ...list };
    },
    async change(asked, change) {
      const request = requestOfTokens(rules.current?.secrets, asked);
      const found = await find(request);
      if ('kind' in found) return found;
      const fault = faultOfLimit(present(found), change.limit);
      if (fault !== undefined) return failure('invalid_request', fault);
      if (change.dryRun) return show(request, found);
      const isKnownElsewhere =
        localCache !== undefined || present(found).some(({ rule }) => rule.isLeased);
      const isHeard = !isKnownElsewhere || !options.isShared || publishInvalidation !== undefined;
      if (!isHeard && !change.force) return 'not_published';
      const before = await show(request, found);
      const failures = (await write(present(found), change)).values();
      const changed = before.map((shown, at) => {
        if (found[at] === undefined) return shown;
        const failed = failures.next().value;
        return failed === undefined ? shown : { ...shown, error: failed.message };
      });
      log(request, change, changed);
      return changed;
    },
  };
}

function present(found: Found): readonly Increment[] {
  return found.filter((one) => one !== undefined);
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
