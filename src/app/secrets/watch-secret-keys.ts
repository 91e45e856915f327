import { createHmac } from 'node:crypto';
import { EMPTY, merge, timer, type Observable } from 'rxjs';
import {
  createSnapshot,
  createStopSignal,
  exhaustLatest,
  fromTask,
  type Snapshot,
} from '../../../streams';
import type { Clock, Statistics } from '../../core/ports';
import type { Rules, KeyRules, RuleLevel, RuleLimit, RuleNode } from '../../core/rules/rules';
import type { Claim } from '../../counters/redis/notes';
import { toReason } from '../../platform/errors';
import type { Logger } from '../../platform/logger';
import { type SecretKey, keyAt } from '../../platform/secret-keys';
import type { Secrets } from '../../core/rules/secrets';
import { windowStart } from '../../core/units';
import type { Settings } from '../../settings/settings';
import type { Actor } from '../actor';
import type { StoreView } from '../store/backend';
import type { OperatorStore } from '../store/store';
import type { SecretKeys } from './create-secret-keys';

interface WatchSecretKeysDeps {
  readonly keys: () => readonly SecretKey[];
  /** CACHE_KEY_PREFIX. */
  readonly keyPrefix: string;
  /** Undefined: the store is not shared with other instances, or cannot hold claims. */
  readonly claim: ((claim: Claim) => Promise<string>) | undefined;
  readonly connected$: Observable<boolean>;
  readonly rules: Pick<Snapshot<Rules | undefined>, 'current'>;
  readonly clock: Clock;
  readonly statistics: Pick<Statistics, 'gauge'>;
  readonly logger: Logger;
}

const EVERY_MS = 60_000;
/** Covers several intervals: the entry outlives a failed one, and expires soon after the last instance. */
const TTL_SECONDS = 600;
/** Hexadecimal digits of eight bytes. */
const SHOWN = 16;

const MISMATCH = 'ratelimit.service.secret_key_mismatch';

/**
 * Compares the keys with those of the other instances, by a text that each key makes and the store holds; and reports which keys
 * are in use. Other keys on one instance would double every limit unnoticed.
 */
export function watchSecretKeys(deps: WatchSecretKeysDeps) {
  const { keys, keyPrefix, claim, connected$, rules, clock, statistics, logger } = deps;
  /** Turns false when the keys differ from those of other instances before they ever agreed. */
  const agrees = createSnapshot(true);
  const stopping = createStopSignal();
  const idsInUse = createIdsInUse();
  let hasAgreed = false;
  let differing = '';
  let inUse = '';
  const removeGauge = statistics.gauge(MISMATCH, () => (differing === '' ? 0 : 1));

  const tellUse = (): void => {
    const now = idsInUse(rules.current, keys(), clock()).join(', ');
    if (now === inUse) return;
    inUse = now;
    logger.info('secret keys in use', { ids: now });
  };
  const judge = (others: readonly number[]): void => {
    if (others.length > 0) {
      differing = others.join(', ');
      const text = 'secret keys differ from those of other instances: counters are not shared';
      logger.error(text, { ids: differing });
      if (!hasAgreed && agrees.current) agrees.set(false);
      return;
    }
    if (differing !== '') logger.warn('secret keys match those of other instances again');
    differing = '';
    hasAgreed = true;
    if (!agrees.current) agrees.set(true);
  };
  const check = async (ask: NonNullable<typeof claim>, signal: AbortSignal): Promise<undefined> => {
    try {
      const others: number[] = [];
      for (const key of keys()) {
        const mine = toClaim(key, keyPrefix);
        if ((await ask(mine)) !== mine.text) others.push(key.id);
      }
      if (!signal.aborted) judge(others);
    } catch (error) {
      logger.debug('secret keys could not be compared with other instances', {
        reason: toReason(error),
      });
    }
  };
  const due$ = merge(connected$, timer(EVERY_MS, EVERY_MS));
  return {
    agrees,
    run$: due$.pipe(
      exhaustLatest((due) => {
        if (due === false) return EMPTY;
        return fromTask<never>((signal) => {
          tellUse();
          return claim === undefined ? Promise.resolve(undefined) : check(claim, signal);
        });
      }),
      stopping.until(),
    ),
    close() {
      stopping.stop();
      removeGauge();
      agrees.close();
    },
  };
}

function toClaim({ id, key }: SecretKey, keyPrefix: string): Claim {
  return {
    key: `${keyPrefix}weir:key:${String(id)}`,
    text: createHmac('sha256', key).update('weir check').digest('hex').slice(0, SHOWN),
    ttlSeconds: TTL_SECONDS,
  };
}

/** The Unix second that selects the key of a counter at a moment. */
type KeySecond = (nowSeconds: number) => number;

/** The ids of the keys under which the rules count at a moment, ascending; those of limits in requests are unknown. */
export function createIdsInUse(): (
  rules: Rules | undefined,
  keys: readonly SecretKey[],
  nowSeconds: number,
) => readonly number[] {
  let known: Rules | undefined;
  let seconds: readonly KeySecond[] = [];
  return (rules, keys, nowSeconds) => {
    if (rules !== known) {
      known = rules;
      seconds = rules === undefined ? [] : keySecondsOf(rules);
    }
    const ids = seconds.map((second) => keyAt(keys, second(nowSeconds))?.id);
    return [...new Set(ids.filter((id) => id !== undefined))].sort((a, b) => a - b);
  };
}

/** One for each kind of window among the limits below a keyed secret. */
function keySecondsOf({ domains, secrets }: Rules): readonly KeySecond[] {
  const found = new Map<unknown, KeySecond>();
  if (secrets !== undefined)
    for (const { top } of domains.values()) visit(top, false, secrets, found);
  return [...found.values()];
}

function visit(
  level: RuleLevel,
  isBelow: boolean,
  secrets: Secrets,
  found: Map<unknown, KeySecond>,
): void {
  for (const rules of level instanceof Map ? level.values() : [level]) {
    const isSecret = isBelow || secrets.kinds.get(rules.key) === 'keyed';
    for (const { limit, children } of nodesOf(rules)) {
      if (isSecret) note(limit, found);
      if (children !== undefined) visit(children, isSecret, secrets, found);
    }
  }
}

function nodesOf({ byValue, wildcards, anyValue }: KeyRules): readonly RuleNode[] {
  const exact = [...(byValue?.values() ?? [])];
  const others = (wildcards?.inOrder ?? []).map(({ node }) => node);
  return anyValue === undefined ? [...exact, ...others] : [...exact, ...others, anyValue];
}

function note(limit: RuleLimit | undefined, found: Map<unknown, KeySecond>): void {
  if (limit === undefined || limit.unlimited) return;
  const { limiter, windowAt, unit } = limit;
  if (limiter.keyEnd !== undefined) found.set('now', (now) => now);
  else if (windowAt !== undefined) found.set(windowAt, (now) => windowAt(now).startSeconds);
  else found.set(unit, (now) => windowStart(unit, Math.floor(now)));
}

/** The secret keys of a service, and whether they equal those of other instances. */
interface KeyCheck extends Actor {
  /** Undefined: there are no keys. */
  readonly agree$: Observable<boolean> | undefined;
}

interface KeyCheckDeps extends Pick<
  WatchSecretKeysDeps,
  'rules' | 'clock' | 'statistics' | 'logger'
> {
  readonly secretKeys?: SecretKeys | undefined;
  /** Undefined: nothing is compared. */
  readonly operatorStore: (OperatorStore & Pick<StoreView, 'connected$'>) | undefined;
}

export function openKeyCheck({ secrets, decisions }: Settings, deps: KeyCheckDeps): KeyCheck {
  const { secretKeys, operatorStore } = deps;
  if (secretKeys === undefined || secrets.keysFile === undefined)
    return { agree$: undefined, run$: EMPTY, close: () => undefined };
  const watch = watchSecretKeys({
    ...deps,
    keys: () => secretKeys.tokens.keys,
    keyPrefix: decisions.keyPrefix,
    claim: operatorStore?.claim,
    connected$: operatorStore?.connected$ ?? EMPTY,
  });
  return {
    agree$: watch.agrees.changes$,
    run$: merge(secretKeys.run$, watch.run$),
    close() {
      secretKeys.close();
      watch.close();
    },
  };
}
