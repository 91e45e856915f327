import { map, merge, of, type Observable } from 'rxjs';
import { eachTrueOnce, healthStatus, type HealthStatus } from '../../streams';
import type { Rules } from '../core/rules/rules';
import type { HealthSettings } from '../settings/health';
import { isStopping, type Lifecycle } from './lifecycle';

export interface HealthInputs {
  /** Whether each store has an active connection. */
  readonly stores: ReadonlyMap<string, Observable<boolean>>;
  readonly rules$: Observable<Rules | undefined>;
  /** Turns true when the rules were read, right or wrong; is true at once with FORCE_START_WITHOUT_INITIAL_CONFIG. */
  readonly rulesRead$: Observable<boolean>;
  readonly lifecycle$: Observable<Lifecycle>;
}

/**
 * The health components (docs/endpoints.md): which are enabled, and how each starts. And one more, `start`: the
 * ports open before rules and stores are there, and nobody shall be sent to an instance that cannot decide.
 */
export function healthSignals(
  { stores, rules$, rulesRead$, lifecycle$ }: HealthInputs,
  { needsConfiguration, needsStoreConnection }: HealthSettings,
): Observable<HealthStatus<string>> {
  const hasDomains = (rules: Rules | undefined) => rules !== undefined && rules.domains.size > 0;
  const always$ = of(true);
  const signals = new Map<string, Observable<boolean>>();
  signals.set('start', eachTrueOnce([rulesRead$, ...stores.values()]));
  for (const [name, connected$] of stores)
    signals.set(name, needsStoreConnection ? merge(always$, connected$) : always$);
  signals.set('configuration', needsConfiguration ? rules$.pipe(map(hasDomains)) : always$);
  signals.set('termination', lifecycle$.pipe(map((state) => !isStopping(state))));
  return healthStatus<string>(Object.fromEntries(signals));
}

/** The names of all components. */
export function healthComponents(stores: HealthInputs['stores']): readonly string[] {
  return ['start', ...stores.keys(), 'configuration', 'termination'];
}
