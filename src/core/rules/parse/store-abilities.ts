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
  { algorithm = 'fixed_window', chargeDenied = true, requestsPerUnit, unlimited }: LimitDefinition,
  { kind, scripts }: StoreAbilities,
): string | undefined {
  const isPlain = algorithm === 'fixed_window' && chargeDenied;
  // A limit of 0 blocks without counting.
  const isCounted = !unlimited && requestsPerUnit > 0;
  if (isPlain || !isCounted || knowsAlgorithms({ kind, scripts })) return undefined;
  const rule = algorithm === 'fixed_window' ? 'charge_denied: false' : `algorithm: ${algorithm}`;
  return kind === 'memstore'
    ? `${rule} cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or a fixed window that charges what it denies`
    : `${rule} needs scripts; expected KVSTORE_SCRIPTS=true, or a fixed window that charges what it denies`;
}

function knowsAlgorithms({ kind, scripts }: StoreAbilities): boolean {
  return kind === 'memory' || (kind === 'kvstore' && scripts);
}
