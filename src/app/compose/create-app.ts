import type { Settings } from '../../settings/settings';
import { createDecider, type DeciderDeps } from './decider';
import { openLimitsFrom } from '../store/open-limits-from';
import { createOwner, type App, type OwnerDeps } from './owner';

/** The app's dependencies on the outside: everything that a test replaces. */
export type AppDeps = Omit<OwnerDeps, 'store' | 'operatorStore' | 'limitsFrom'> &
  Pick<DeciderDeps, 'store' | 'random' | 'tracing'>;

/** The composition root of one process: owner and decider, running, the ports still closed. */
export function createApp(settings: Settings, deps: AppDeps): App {
  const limitsFrom = openLimitsFrom({ ...deps, statistics: deps.registry });
  return createOwner(settings, { ...deps, operatorStore: deps.store, limitsFrom }, (ports) =>
    createDecider(settings, { ...deps, limitsFrom }, ports),
  );
}
