import { map, merge, of, type Observable } from 'rxjs';
import type { Rules } from '../core/rules/rules';
import type { HealthSettings } from '../settings/health';
import { healthStatus, type HealthStatus } from '../../streams';

export interface HealthInputs {
  /** Whether each store has an active connection. */
  readonly stores: ReadonlyMap<string, Observable<boolean>>;
  readonly rules$: Observable<Rules | undefined>;
  /** Turns false with the signal to stop. */
  readonly staying$: Observable<boolean>;
}

/** The health components of the document ("Health"): which are enabled, and how each starts. */
export function healthSignals(
  { stores, rules$, staying$ }: HealthInputs,
  { needsConfiguration, needsStoreConnection }: HealthSettings,
): Observable<HealthStatus<string>> {
  const hasDomains = (rules: Rules | undefined) => rules !== undefined && rules.domains.size > 0;
  const always$ = of(true);
  const signals = new Map<string, Observable<boolean>>();
  for (const [name, connected$] of stores)
    signals.set(name, needsStoreConnection ? merge(always$, connected$) : always$);
  signals.set('configuration', needsConfiguration ? rules$.pipe(map(hasDomains)) : always$);
  signals.set('termination', staying$);
  return healthStatus<string>(Object.fromEntries(signals));
}
