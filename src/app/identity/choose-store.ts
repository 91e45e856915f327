import { createEmbeddedStore } from '../../identity/store/embedded/create-embedded-store';
import type { IdentityStore } from '../../identity/store/store';
import { monotonicMs } from '../../platform/clock';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import { checkClientFiles } from '../tls/check-client-files';
import { lazy } from './lazy';

/** Leaves time for a 503 within a second, after the time-out of the limits. */
const STORE_TIMEOUT_MS = 600;

/** The store that the settings name; throws an error that names the missing setting. */
export function chooseIdentityStore(
  { identity, store, clientFiles }: Settings,
  logger: Logger,
): IdentityStore {
  if (identity.store === 'embedded')
    return createEmbeddedStore({ nowMs: Date.now, logger }, { file: identity.storeFile });
  if (store === undefined) throw new Error(identity.storeProblem);
  checkClientFiles(clientFiles.stores);
  const { address, database, auth, sentinelAuth, tls } = store;
  const timeoutMs = Math.min(store.timeoutMs, STORE_TIMEOUT_MS);
  return lazy
    .redisStore()
    .createRedisStore(
      { monotonicMs, nowMs: Date.now, logger },
      { address, database, auth, sentinelAuth, tls, timeoutMs },
    );
}

/** A host to connect to: an address that listens everywhere is reached at localhost. */
export function localName(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
