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
import type { Rules } from '../../core/rules/rules';
import type { Claim } from '../../counters/redis/notes';
import { toReason } from '../../platform/errors';
import type { Logger } from '../../platform/logger/logger';
import type { SecretKey } from '../../platform/secret-keys/parse-secret-keys';
import { createIdsInUse } from './ids-in-use';

export interface WatchSecretKeysDeps {
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
