import type { Snapshot } from '../../streams';
import { failure, type Failure } from '../core/errors';
import { entryTexts } from '../core/explain/explain-path';
import type { DecisionRequest } from '../core/model';
import { limitSource } from '../core/explain/limit-source';
import { findCounters } from '../core/planning/find-counters';
import { readValueLimits } from '../core/planning/value-limit';
import { windowsAt } from '../core/planning/windows';
import type { Clock, Increment, LimitsFrom, Statistics } from '../core/ports';
import type { Rules } from '../core/rules/rules';
import { requestOfTokens } from '../core/rules/secrets';
import type { Logger } from '../platform/logger/logger';
import type {
  CounterAdmin,
  CounterChange,
  ShownCounter,
} from '../transport/debug/admin/counter-endpoints';
import type { OperatorStore } from './actors/store';

export interface CounterAdminDeps {
  readonly rules: Snapshot<Rules | undefined>;
  /** What an operator reads while there are none. */
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

/** Looks at counters and changes them, found as a decision finds them. Every change is one line in the log. */
export function createCounterAdmin(
  { rules, whyNoRules, store, clock, statistics, logger }: CounterAdminDeps,
  options: CounterAdminOptions,
): CounterAdmin {
  const { reader, writer, localCache, publishInvalidation } = store;

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
      const { store: place, count = 0, expiresInSeconds, error } = readings.next().value ?? {};
      const read = error === undefined ? { count, expiresInSeconds } : { error: error.message };
      const source = limitSource(increment.rule, entries, secrets);
      return { entries: shown, key: increment.key, store: place, ...source, ...read };
    });
  };

  const write = async (
    counters: readonly Increment[],
    used: number | undefined,
  ): ReturnType<typeof writer.remove> => {
    const failures =
      used === undefined
        ? await writer.remove(counters)
        : await writer.set(counters, used, clock());
    // Those that failed too: they may have been changed all the same.
    localCache?.forgetKeys(counters.map(({ key }) => key));
    if (counters.length > 0) publishInvalidation?.(counters);
    return failures;
  };

  const log = (
    { domain }: DecisionRequest,
    { used, peer, tokenId }: CounterChange,
    shown: readonly ShownCounter[],
  ): void => {
    statistics.count(WRITES, 1);
    const message = used === undefined ? 'counters were reset' : 'counters were set';
    logger.warn(message, {
      peer,
      ...(tokenId !== undefined && { token: tokenId }),
      domain,
      descriptors: shown.map(({ entries }) => entries.join(',')),
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
    async change(asked, change) {
      const request = requestOfTokens(rules.current?.secrets, asked);
      const found = await find(request);
      if ('kind' in found) return found;
      if (change.dryRun) return show(request, found);
      const isHeard =
        localCache === undefined || !options.isShared || publishInvalidation !== undefined;
      if (!isHeard && !change.force) return 'not_published';
      const before = await show(request, found);
      const failures = (await write(present(found), change.used)).values();
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
