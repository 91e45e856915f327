import type { Observable } from 'rxjs';
import { createSnapshot } from '../../../streams';
import type { Statistics } from '../../core/ports';
import { createOverLimitCache, type OverLimitCache } from '../../counters/over-limit-cache';
import {
  forgettingBlocked,
  withBlockedKeys,
  withOverLimitCache,
  type PublishInvalidation,
} from '../../counters/with-over-limit-cache';
import type { Settings } from '../../settings/settings';
import type { StoreBackend } from './backend';
import type { Link } from './chain';

/** Memory for blocked keys where there is no other local cache (budgets.md section 6). */
const BLOCKED_BYTES = 1_048_576;

/** The local cache in front of a store's counters. */
export interface LocalCache {
  /** Called with the messages of other instances; undefined: there is no cache. */
  readonly onForget: OverLimitCache['forgetKeys'] | undefined;
  /** When it starts to need messages; undefined: at once. */
  readonly isUsed$: Observable<boolean> | undefined;
  readonly before: (store: CachedStore) => CachedView;
  readonly close: () => void;
}

type CachedStore = Pick<StoreBackend, 'publishInvalidation' | 'listOver'>;

/** A store with the local cache in front of it. */
export interface CachedView extends CachedStore {
  readonly link: Link | undefined;
  /** Counters known to be over their limit; undefined: there is no cache, or one of blocked keys only. */
  readonly localCache: OverLimitCache | undefined;
  readonly listBlocked: ListBlocked | undefined;
}

/** Keys that a block refuses, where no others are known to be over their limits; undefined: no rule with `block` was used. */
export type ListBlocked = (
  ...asked: Parameters<OverLimitCache['list']>
) => ReturnType<OverLimitCache['list']> | undefined;

/** A cache of `LocalCacheSizeInBytes`; without it, a cache of blocked keys only, where resets can reach it. */
export function createLocalCache(
  settings: Settings,
  { statistics }: { readonly statistics: Statistics },
): LocalCache {
  const { localCacheSizeBytes: sizeBytes } = settings.decisions;
  const leasedSeconds = knownSecondsOf(settings.leases);
  if (sizeBytes > 0)
    return ofSize(createOverLimitCache({ statistics }, { sizeBytes, leasedSeconds }));
  const isHeard = [settings.store, settings.perSecondStore].every(
    (store) => store === undefined || store.cacheInvalidation,
  );
  if (settings.store === undefined || !isHeard) return NONE;
  // Its gauges would be new to users without a rule with `block`.
  return ofBlocked(createOverLimitCache({}, { sizeBytes: BLOCKED_BYTES }));
}

/** A leased counter is cached as over its limit for two lease times: until then, other instances return the hits that they do not need. */
export function knownSecondsOf({ timeMs }: Settings['leases']): number {
  return (2 * timeMs) / 1_000;
}

const NONE: LocalCache = {
  onForget: undefined,
  isUsed$: undefined,
  before: ({ publishInvalidation, listOver }) => ({
    link: undefined,
    publishInvalidation,
    localCache: undefined,
    listOver,
    listBlocked: undefined,
  }),
  close: () => undefined,
};

function ofSize(localCache: OverLimitCache): LocalCache {
  return {
    onForget: forgetting(localCache),
    isUsed$: undefined,
    before: ({ publishInvalidation }) => ({
      link: (next) => withOverLimitCache(next, localCache, { publishInvalidation }),
      publishInvalidation,
      localCache,
      listOver: localCache.list,
      listBlocked: undefined,
    }),
    close: () => undefined,
  };
}

function ofBlocked(cache: OverLimitCache): LocalCache {
  const isUsed = createSnapshot(false);
  const onUsed = (): void => {
    if (!isUsed.current) isUsed.set(true);
  };
  return {
    onForget: forgetting(cache),
    isUsed$: isUsed.changes$,
    before: ({ publishInvalidation: publish, listOver }) => ({
      link: (next) => withBlockedKeys(next, cache, onUsed),
      publishInvalidation: publish && publishBlockedAndLeased(cache, publish),
      localCache: undefined,
      listOver,
      listBlocked: (...asked) => (isUsed.current ? cache.list(...asked) : undefined),
    }),
    close: () => {
      isUsed.close();
    },
  };
}

/** Without a local cache, only blocked and leased counters are published. */
function publishBlockedAndLeased(
  cache: OverLimitCache,
  publish: PublishInvalidation,
): PublishInvalidation {
  const publishBlocked = forgettingBlocked(cache, publish);
  return (counters, isReset) => {
    publishBlocked(counters);
    const leased = counters.filter(({ rule }) => rule.isLeased);
    if (leased.length > 0) publish(leased, isReset);
  };
}

function forgetting(cache: OverLimitCache): OverLimitCache['forgetKeys'] {
  return (keys) => {
    cache.forgetKeys(keys);
  };
}
