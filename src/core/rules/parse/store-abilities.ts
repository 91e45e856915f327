import type { LimitDefinition } from '../definition';

export const BACKENDS = ['kvstore', 'memstore', 'memory'] as const;

/** What the counter store is, as far as rules need to know. */
export interface StoreAbilities {
  readonly kind: (typeof BACKENDS)[number];
  /** False: scripts are off (KVSTORE_SCRIPTS=false). Only kvstore takes any. */
  readonly scripts: boolean;
}

/** Why the store cannot count by a limit; undefined when it can. */
export function whyNotCountable(
  limit: LimitDefinition,
  { kind, scripts }: StoreAbilities,
): string | undefined {
  const feature = featureOf(limit);
  if (feature === undefined || kind === 'memory' || (kind === 'kvstore' && scripts))
    return undefined;
  return kind === 'memstore'
    ? `${feature} cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or a fixed window that charges what it denies`
    : `${feature} needs scripts; expected KVSTORE_SCRIPTS=true, or a fixed window that charges what it denies`;
}

/** Why the store cannot say the limits of values; undefined when it can, or need not. */
export function whyWithoutHashes(
  { limitsFrom }: LimitDefinition,
  { kind }: StoreAbilities,
): string | undefined {
  return limitsFrom === undefined || kind === 'kvstore'
    ? undefined
    : `limits_from needs a store that has hashes, BACKEND_TYPE=kvstore; found BACKEND_TYPE=${kind}`;
}

/** What makes a limit look before it charges. A limit of 0 blocks without counting, unless values have others. */
function featureOf({
  algorithm,
  chargeDenied,
  requestsPerUnit,
  unlimited,
  limitsFrom,
}: LimitDefinition): string | undefined {
  if (unlimited || (requestsPerUnit === 0 && limitsFrom === undefined)) return undefined;
  if (algorithm !== undefined && algorithm !== 'fixed_window') return `algorithm: ${algorithm}`;
  return chargeDenied === false ? 'charge_denied: false' : undefined;
}
