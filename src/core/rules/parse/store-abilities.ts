import { kindOf } from '../../kinds/kinds';
import type { BudgetDefinition, LimitDefinition } from '../definition';
import { quote } from '../../../fields/located';

export const BACKENDS = ['kvstore', 'memstore', 'memory'] as const;

/** The abilities of the counter store that rules depend on. */
export interface StoreAbilities {
  readonly kind: (typeof BACKENDS)[number];
  /** False: scripts are off (KVSTORE_SCRIPTS=false). Only kvstore takes any. */
  readonly scripts: boolean;
  /** CACHE_KEY_PREFIX; undefined: unknown. */
  readonly keyPrefix?: string | undefined;
  /** STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: counters are read before they are charged. */
  readonly holdsBack?: boolean | undefined;
}

/** Why the store cannot count by a limit; undefined when it can. */
export function whyNotCountable(
  limit: LimitDefinition,
  abilities: StoreAbilities,
): string | undefined {
  const feature = featureOf(limit);
  const instead = 'a fixed window without charge_denied: false';
  return feature && whyWithoutScripts(feature, instead, abilities);
}

/** Why the store cannot count by several limits, reservations or blocks; `isList`: the rule has `rate_limits`. */
export function whyNotBudgeted(
  budget: BudgetDefinition,
  abilities: StoreAbilities,
  isList: boolean,
): string | undefined {
  const feature = featureOfBudget(budget, isList);
  const why = whyWithoutScripts(feature, 'a rate_limit alone', abilities);
  const { keyPrefix = '' } = abilities;
  if (why !== undefined || !/[{}]/.test(keyPrefix)) return why;
  return `${feature} needs braces in its counter keys: expected CACHE_KEY_PREFIX without { and }; found ${quote(keyPrefix)}`;
}

/** Why the store cannot charge the counters of a request together. */
export function whyNotTogether(abilities: StoreAbilities): string | undefined {
  return whyWithoutScripts('charge: together', 'charge: apart', abilities);
}

/** Why the store cannot hold the limits of values; undefined when it can, or need not. */
export function whyWithoutHashes(
  { limitsFrom }: LimitDefinition,
  { kind }: StoreAbilities,
): string | undefined {
  return limitsFrom === undefined || kind === 'kvstore'
    ? undefined
    : `limits_from needs a store that has hashes, BACKEND_TYPE=kvstore; found BACKEND_TYPE=${kind}`;
}

function whyWithoutScripts(
  feature: string,
  instead: string,
  { kind, scripts }: StoreAbilities,
): string | undefined {
  if (kind === 'memory' || (kind === 'kvstore' && scripts)) return undefined;
  return kind === 'memstore'
    ? `${feature} cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or ${instead}`
    : `${feature} needs scripts; expected KVSTORE_SCRIPTS=true, or ${instead}`;
}

/** Why a limit must read before it charges. A limit of 0 blocks without counting, unless values have others. */
function featureOf(limit: LimitDefinition): string | undefined {
  const { requestsPerUnit, unlimited, limitsFrom } = limit;
  if (unlimited || (requestsPerUnit === 0 && limitsFrom === undefined)) return undefined;
  const { readsFirst, words } = kindOf(limit);
  return readsFirst ? words.feature : undefined;
}

function featureOfBudget({ limits, block }: BudgetDefinition, isList: boolean): string {
  if (isList) return 'rate_limits';
  const [limit] = limits;
  if (limit?.isInFlight === true) return 'algorithm: in_flight';
  return block !== undefined || limit?.block !== undefined ? 'block' : 'reserve';
}
