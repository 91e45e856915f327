import { compileInSlices } from '../../core/rules/compile';
import type { LimitOptions } from '../../core/rules/compile-limit';
import type { DomainDefinition } from '../../core/rules/definition';
import type { StoreAbilities } from '../../core/rules/parse/store-abilities';
import type { Rules } from '../../core/rules/rules';
import type { ZoneLookup } from '../../core/windows/zone-data';
import type { Tokens } from '../../core/rules/secrets';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import { createAlgorithmWatch } from './changed-algorithms';

/** How rules are read, from any source. */
export function toLoadOptions(
  { configuration, secrets, ...rest }: Settings,
  { zones }: Pick<CompileDeps, 'zones'>,
) {
  return {
    mergeDomains: configuration.mergeDomains,
    abilities: storeAbilities(rest),
    hasZone: zones.has,
    // None without a file of keys; with one, any, because it may change.
    secretKeyIds: secrets.keysFile === undefined ? [] : undefined,
  };
}

/** The abilities of the store in these settings. */
function storeAbilities({
  store,
  memstore,
  decisions,
}: Pick<Settings, 'store' | 'memstore' | 'decisions'>): StoreAbilities {
  const { keyPrefix, holdBack: holdsBack } = decisions;
  if (memstore !== undefined) return { kind: 'memstore', scripts: false, keyPrefix, holdsBack };
  if (store === undefined) return { kind: 'memory', scripts: false, keyPrefix, holdsBack };
  return { kind: 'kvstore', scripts: store.scripts, keyPrefix, holdsBack };
}

/** The options of compiled limits, from any source. */
export function toLimitOptions({ decisions, leases, backend }: Settings): LimitOptions {
  const isLeased = leases.mode === 'on' && backend !== 'memory' && !decisions.holdBack;
  return { ...decisions, leases: isLeased };
}

export interface CompileDeps {
  readonly tokens: Tokens;
  readonly zones: ZoneLookup;
  readonly logger: Pick<Logger, 'info'>;
  /** Called with each set of rules and its definitions. */
  readonly onCompiled?: ((rules: Rules, domains: readonly DomainDefinition[]) => void) | undefined;
}

/** Compiles in slices of `sliceSize` entries, then reports the rules with their definitions. */
export function createCompile(
  sliceSize: number,
  settings: Settings,
  { tokens, zones, onCompiled, logger }: CompileDeps,
) {
  const watchAlgorithms =
    settings.configuration.overlays === undefined ? undefined : createAlgorithmWatch(logger);
  return function* (domains: readonly DomainDefinition[]): Generator<void, Rules> {
    const rules = yield* compileInSlices(domains, sliceSize, {
      ...toLimitOptions(settings),
      tokens,
      findZone: zones.find,
    });
    onCompiled?.(rules, domains);
    if (watchAlgorithms !== undefined) yield* watchAlgorithms(rules);
    return rules;
  };
}
