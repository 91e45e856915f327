import { map, merge, of, type Observable } from 'rxjs';
import type { Rules } from '../core/rules/rules';
import type { HealthSettings } from '../settings/health';
import { healthStatus, type HealthStatus } from '../../streams';

export interface HealthInputs {
  /** Whether each store has an active connection. */
  readonly stores: ReadonlyMap<string, Observable<boolean>>;
  readonly rules$: Observable<Rules | undefined>;
  /** Turns true with the first load, good or bad; is true at once with FORCE_START_WITHOUT_INITIAL_CONFIG. */
  readonly started$: Observable<boolean>;
  /** Turns false with the signal to stop. */
  readonly staying$: Observable<boolean>;
}

/**
 * The health components (docs/endpoints.md): which are enabled, and how each starts. And one more,
 * because the ports do not wait for the first load as the reference's do: nobody shall be sent here before it.
 */
export function healthSignals(
  { stores, rules$, started$, staying$ }: HealthInputs,
  { needsConfiguration, needsStoreConnection }: HealthSettings,
): Observable<HealthStatus<string>> {
  const hasDomains = (rules: Rules | undefined) => rules !== undefined && rules.domains.size > 0;
  const always$ = of(true);
  const signals = new Map<string, Observable<boolean>>([['start', started$]]);
  for (const [name, connected$] of stores)
    signals.set(name, needsStoreConnection ? merge(always$, connected$) : always$);
  signals.set('start', started$);
  signals.set('configuration', needsConfiguration ? rules$.pipe(map(hasDomains)) : always$);
  signals.set('termination', staying$);
  return healthStatus<string>(Object.fromEntries(signals));
}
