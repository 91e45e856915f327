import type { DomainDefinition } from '../../../core/rules/definition';
import type { Rules } from '../../../core/rules/rules';
import { monotonicMs, systemClock } from '../../../platform/clock';
import { openCountedLines } from '../../observe/counted-lines';
import { standardError } from '../../../platform/logger/create-logger';
import type { Settings } from '../../../settings/settings';
import { merge } from 'rxjs';
import { createLiveView } from '../../../stats/dashboard/create-live-view';
import { createRegistry } from '../../../stats/registry';
import { describeStores } from '../../store/describe-store';
import type { Deciders } from '../../compose/decider';
import { createOutageLog, type OutageLog } from '../../outage-log';
import { createOwner, type App } from '../../compose/owner';
import { describeTimeZones, openTimeZones } from '../../rules/open-time-zones';
import { ruleLoads } from '../../rules/rule-source';
import { createSecretKeys } from '../../secrets/create-secret-keys';
import { logStart, type Start } from '../../process/start';
import { toDecisionOptions } from '../../compose/to-decision-options';
import { createPool, type WorkerPool } from './pool';
import type { StartedWorkers } from './start-workers';
import { openLimitsFrom } from '../../store/open-limits-from';
import type { LimitsFromHashes } from '../../../counters/limits-from/create-limits-from';
import { chooseCounters, type CounterStore, type CounterStoreDeps } from '../../store/store';

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
  const { find: findZone, origins } = openTimeZones(settings, outages);
  logStart(start, {
    counters: storeDescription,
    workers: plan.count,
    timeZones: describeTimeZones(origins),
  });
  const definitions = new WeakMap<Rules, readonly DomainDefinition[]>();
  const secretKeys = createSecretKeys(settings.secrets.keysFile, {
    clock,
    logger,
    statistics: registry,
  });
  const { tokens } = secretKeys;
  const source = { clock, random: Math.random, logger, outages, tokens, findZone };
  const operatorStore = createOperatorStore(settings, {
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
    return operatorStore === undefined ? workers : withOperatorStore(workers, operatorStore);
  });
  return { ...app, storeName: storeDescription };
}

/** The workers, and the owner's own connection to the counters, which lives as long as they. */
function withOperatorStore(
  workers: Deciders,
  { run$, counters, limitsFrom }: OwnCounters,
): Deciders {
  return {
    ...workers,
    run$: merge(workers.run$, run$, limitsFrom.run$),
    async finish() {
      await workers.finish();
      limitsFrom.close();
      await counters.close();
    },
  };
}

/** The counters, and limits of values from hashes in them. */
interface OwnCounters extends CounterStore {
  readonly limitsFrom: LimitsFromHashes;
}

/**
 * The counters as the owner of several workers reads and changes them for the operator API, over one connection of its own. Its
 * local cache stays empty: it only serves to publish changes to those of the workers, and of other instances. Undefined:
 * ADMIN_API=off, and there are no secret keys to compare.
 */
function createOperatorStore(
  settings: Settings,
  deps: CounterStoreDeps & { readonly outages: OutageLog },
): OwnCounters | undefined {
  if (settings.admin.api === 'off' && settings.secrets.keysFile === undefined) return undefined;
  const { store, perSecondStore } = settings;
  const ofOne = <S extends Settings['store']>(whole: S): S =>
    whole && { ...whole, pool: { ...whole.pool, size: 1 } };
  const own = chooseCounters(
    { ...settings, store: ofOne(store), perSecondStore: ofOne(perSecondStore) },
    deps,
  );
  const limitsFrom = openLimitsFrom({ ...deps, store: own });
  return { ...own, listOver: undefined, limitsFrom };
}
