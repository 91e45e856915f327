import type { Random } from '../core/ports';
import type { Settings } from '../settings/settings';
import type { Tracing } from '../tracing/create-tracing';
import type { CounterStore } from './actors/store';
import { createDecider } from './decider';
import { createOwner, type App, type OwnerDeps } from './owner';

/** What the app needs from outside: everything that a test replaces. */
export interface AppDeps extends Omit<OwnerDeps, 'operatorStore'> {
  readonly store: CounterStore;
  readonly random: Random;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** THE composition root of one process: owner and decider, running, the ports still closed. */
export function createApp(settings: Settings, deps: AppDeps): App {
  const ofOwner = { ...deps, operatorStore: deps.store };
  return createOwner(settings, ofOwner, (ports) => createDecider(settings, deps, ports));
}
