import { map, merge, of, type Observable } from 'rxjs';
import type { Rules } from '../core/rules/rules';
import type { HealthSettings } from '../settings/health';
import { healthStatus, type HealthStatus } from '../../streams';

export type Component = 'start' | 'store' | 'configuration' | 'termination';

export interface HealthInputs {
  /** Whether the store has an active connection. */
  readonly storeConnected$: Observable<boolean>;
  readonly rules$: Observable<Rules | undefined>;
  /** Turns true with the first load, good or bad; is true at once with FORCE_START_WITHOUT_INITIAL_CONFIG. */
  readonly started$: Observable<boolean>;
  /** Turns false with the signal to stop. */
  readonly staying$: Observable<boolean>;
}

/**
 * The health components of the document ("Health"): which are enabled, and how each starts. And one more,
 * because the ports do not wait for the first load as the reference's do: nobody shall be sent here before it.
 */
export function healthSignals(
  { storeConnected$, rules$, started$, staying$ }: HealthInputs,
  { needsConfiguration, needsStoreConnection }: HealthSettings,
): Observable<HealthStatus<Component>> {
  const hasDomains = (rules: Rules | undefined) => rules !== undefined && rules.domains.size > 0;
  return healthStatus<Component>({
    start: started$,
    store: needsStoreConnection ? merge(of(true), storeConnected$) : of(true),
    configuration: needsConfiguration ? rules$.pipe(map(hasDomains)) : of(true),
    termination: staying$,
  });
}
