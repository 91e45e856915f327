import { monotonicMs, systemClock } from '../platform/clock';
import { createRegistry } from '../stats/registry';
import { chooseCounters } from './store/store';
import { createOutageLog } from './outage-log';
import { type App, createOwner, type OwnerDeps } from './compose/owner';
import { ruleLoads } from './rules/rule-source';
import { createSecretKeys } from './secrets/create-secret-keys';
import { logStart, type Start } from './process/start';
import { describeTimeZones, openTimeZones } from './rules/time-zones';
import { startTracing } from './observe/start-tracing';
import type { Settings } from '../settings/settings';
import { createDecider, type DeciderDeps } from './compose/decider';
import { openLimitsFrom } from './store/open-limits-from';

/** The app of one process, with its clocks, its store, its source of rules and its traces. */
export function assembleAlone(start: Start): App & { readonly storeName: string } {
  const { settings, logger } = start;
  const registry = createRegistry();
  const deps = { clock: systemClock, monotonicMs, random: Math.random, logger };
  const store = chooseCounters(settings, { ...deps, statistics: registry });
  const outages = createOutageLog(deps);
  const zones = openTimeZones(settings, outages);
  logStart(start, { counters: store.description, timeZones: describeTimeZones(zones.origins) });
  const secretKeys = createSecretKeys(settings.secrets.keysFile, { ...deps, statistics: registry });
  const { tokens } = secretKeys;
  const loads$ = ruleLoads(settings, {
    ...{ ...deps, statistics: registry, outages },
    ...{ tokens, zones },
  });
  const tracing = startTracing(settings, { ...deps, statistics: registry, outages });
  const app = createApp(settings, {
    ...deps,
    registry,
    store,
    loads$,
    outages,
    tracing,
    secretKeys,
  });
  return { ...app, storeName: store.description };
}

/** The app's dependencies on the outside: everything that a test replaces. */
type AppDeps = Omit<OwnerDeps, 'store' | 'operatorStore' | 'limitsFrom'> &
  Pick<DeciderDeps, 'store' | 'random' | 'tracing'>;

/** The composition root of one process: owner and decider, running, the ports still closed. */
export function createApp(settings: Settings, deps: AppDeps): App {
  const limitsFrom = openLimitsFrom({ ...deps, statistics: deps.registry });
  return createOwner(settings, { ...deps, operatorStore: deps.store, limitsFrom }, (ports) =>
    createDecider(settings, { ...deps, limitsFrom }, ports),
  );
}
