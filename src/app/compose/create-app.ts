import type { Random } from '../../core/ports';
import type { Settings } from '../../settings/settings';
import type { Tracing } from '../../tracing/create-tracing';
import type { CounterStore } from '../store/store';
import { createDecider } from './decider';
import { openLimitsFrom } from '../store/open-limits-from';
import { createOwner, type App, type OwnerDeps } from './owner';

/** What the app needs from outside: everything that a test replaces. */
export interface AppDeps extends Omit<OwnerDeps, 'operatorStore' | 'limitsFrom'> {
  readonly store: CounterStore;
  readonly random: Random;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** THE composition root of one process: owner and decider, running, the ports still closed. */
export function createApp(settings: Settings, deps: AppDeps): App {
  const limitsFrom = openLimitsFrom({ ...deps, statistics: deps.registry });
  return createOwner(settings, { ...deps, operatorStore: deps.store, limitsFrom }, (ports) =>
    createDecider(settings, { ...deps, limitsFrom }, ports),
  );
}
