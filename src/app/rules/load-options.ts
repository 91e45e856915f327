import { compileInSlices } from '../../core/rules/compile';
import type { LimitOptions } from '../../core/rules/compile-limit';
import type { DomainDefinition } from '../../core/rules/definition';
import type { StoreAbilities } from '../../core/rules/parse/store-abilities';
import type { Rules } from '../../core/rules/rules';
import type { ZoneLookup } from '../../core/windows/zone-data';
import type { Tokens } from '../../core/rules/secrets';
import type { Settings } from '../../settings/settings';

/** How rules are read, wherever they come from. */
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

/** What the store of these settings can count by. */
function storeAbilities({
  store,
  memstore,
  decisions,
}: Pick<Settings, 'store' | 'memstore' | 'decisions'>): StoreAbilities {
  const { cacheKeyPrefix: keyPrefix, stopIncrementWhenOverLimit: holdsBack } = decisions;
  if (memstore !== undefined) return { kind: 'memstore', scripts: false, keyPrefix, holdsBack };
  if (store === undefined) return { kind: 'memory', scripts: false, keyPrefix, holdsBack };
  return { kind: 'kvstore', scripts: store.scripts, keyPrefix, holdsBack };
}

/** What limits are made with, wherever rules are compiled. */
export function toLimitOptions({ decisions, leases, backend }: Settings): LimitOptions {
  const { stopIncrementWhenOverLimit: holdsBack } = decisions;
  return { ...decisions, leases: leases.mode === 'on' && backend !== 'memory' && !holdsBack };
}

export interface CompileDeps {
  readonly tokens: Tokens;
  readonly zones: ZoneLookup;
  /** Told what each set of rules was compiled from. */
  readonly onCompiled?: ((rules: Rules, domains: readonly DomainDefinition[]) => void) | undefined;
}

/** Compiles in slices of so many entries, then tells what came of which definitions. */
export function createCompile(
  sliceSize: number,
  settings: Settings,
  { tokens, zones, onCompiled }: CompileDeps,
) {
  return function* (domains: readonly DomainDefinition[]): Generator<void, Rules> {
    const rules = yield* compileInSlices(domains, sliceSize, {
      ...toLimitOptions(settings),
      tokens,
      findZone: zones.find,
    });
    onCompiled?.(rules, domains);
    return rules;
  };
}
