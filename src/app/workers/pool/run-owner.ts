import type { DomainDefinition } from '../../../core/rules/definition';
import type { Rules } from '../../../core/rules/rules';
import { monotonicMs, systemClock } from '../../../platform/clock';
import { openCountedLines } from '../../observe/decision-log';
import { standardError } from '../../../platform/logger';
import { createLiveView } from '../../../stats/dashboard/create-live-view';
import { createRegistry } from '../../../stats/registry';
import { describeStores } from '../../store/describe-store';
import { createOutageLog } from '../../outage-log';
import { createOwner, type App } from '../../compose/owner';
import { describeTimeZones, openTimeZones } from '../../rules/time-zones';
import { ruleLoads } from '../../rules/rule-source';
import { createSecretKeys } from '../../secrets/create-secret-keys';
import { logStart, type Start } from '../../process/start';
import { toDecisionOptions } from '../../compose/decisions';
import { createOwnerStore, withOwnerStore } from './owner-store';
import { createPool, type WorkerPool } from './pool';
import type { StartedWorkers } from './start-workers';

/** The owner of several workers, with its clocks and its source of rules. */
export function assembleOwner(
  start: Start,
  { plan, fork }: StartedWorkers,
): App & { readonly storeName: string } {
  const { settings, logger } = start;
  const { names: storeNames, description: storeDescription } = describeStores(settings);
  const clock = systemClock;
  const registry = createRegistry({ refresh: () => pool.collect() });
  const outages = createOutageLog({ logger, monotonicMs });
  const zones = openTimeZones(settings, outages);
  logStart(start, {
    counters: storeDescription,
    workers: plan.count,
    timeZones: describeTimeZones(zones.origins),
  });
  const definitions = new WeakMap<Rules, readonly DomainDefinition[]>();
  const secretKeys = createSecretKeys(settings.secrets.keysFile, {
    clock,
    logger,
    statistics: registry,
  });
  const { tokens } = secretKeys;
  const source = { clock, random: Math.random, logger, outages, tokens, zones };
  const operatorStore = createOwnerStore(settings, {
    ...source,
    monotonicMs,
    statistics: registry,
  });
  const { mode, file } = settings.decisionLog;
  // The workers themselves write to a file.
  const writesDecisions = mode !== 'off' && file === undefined;
  const pool: WorkerPool = createPool(
    {
      fork,
      registry,
      logger,
      monotonicMs,
      loads$: ruleLoads(settings, {
        ...source,
        statistics: registry,
        onCompiled: (rules, domains) => definitions.set(rules, domains),
      }),
      definitionsOf: (rules) => definitions.get(rules) ?? [],
      writeLog: standardError(),
      decisionLines: writesDecisions
        ? openCountedLines(undefined, { statistics: registry, logger })
        : undefined,
    },
    { count: plan.count, storeNames, storeDescription },
  );
  const { store, loads$, serves } = pool;
  const deps = {
    registry,
    store,
    loads$,
    clock,
    monotonicMs,
    logger,
    outages,
    operatorStore,
    limitsFrom: operatorStore?.limitsFrom,
    secretKeys,
    workers$: serves.changes$,
    workerCount: plan.count,
    outagesOfWorkers: pool.outages,
    heldByWorkers: pool.heldBytes,
  };
  const app = createOwner(settings, deps, (ports) => {
    const view = { registry, clock, monotonicMs, random: Math.random, rules: ports.rules };
    const workers = pool.deciders(ports, createLiveView(view, toDecisionOptions(settings)));
    return operatorStore === undefined ? workers : withOwnerStore(workers, operatorStore, ports);
  });
  return { ...app, storeName: storeDescription };
}
