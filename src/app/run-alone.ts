import { monotonicMs, systemClock } from '../platform/clock';
import { createRegistry } from '../stats/registry';
import { chooseCounters } from './store/store';
import { createApp } from './compose/create-app';
import { createOutageLog } from './outage-log';
import type { App } from './compose/owner';
import { ruleLoads } from './rules/rule-source';
import { createSecretKeys } from './secrets/create-secret-keys';
import { logStart, type Start } from './process/start';
import { describeTimeZones, openTimeZones } from './rules/open-time-zones';
import { startTracing } from './observe/start-tracing';

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
  const loads$ = ruleLoads(settings, { ...deps, outages, tokens, zones });
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
