import { EMPTY, merge, type Observable } from 'rxjs';
import type { Settings } from '../../settings/settings';
import type { Actor } from '../actor';
import type { OperatorStore, StoreView } from '../store/store';
import type { SecretKeys } from './create-secret-keys';
import { watchSecretKeys, type WatchSecretKeysDeps } from './watch-secret-keys';

/** The secret keys of a service, and whether they equal those of other instances. */
export interface KeyCheck extends Actor {
  /** Undefined: there are no keys. */
  readonly agree$: Observable<boolean> | undefined;
}

export interface KeyCheckDeps extends Pick<
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
    keyPrefix: decisions.cacheKeyPrefix,
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
