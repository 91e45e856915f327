import { map, merge, of, type Observable } from 'rxjs';
import type { Rules } from '../core/rules/rules';
import type { HealthSettings } from '../settings/health';
import { healthStatus, type HealthStatus } from '../../streams';

export interface HealthInputs {
  /** Whether each store has an active connection. */
  readonly stores: Readonly<Record<string, Observable<boolean>>>;
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
  const connections = Object.entries(stores).map(([name, connected$]) => [
    name,
    needsStoreConnection ? merge(of(true), connected$) : of(true),
  ]);
  return healthStatus<string>({
    ...(Object.fromEntries(connections) as Record<string, Observable<boolean>>),
    configuration: needsConfiguration ? rules$.pipe(map(hasDomains)) : of(true),
    termination: staying$,
  });
}
