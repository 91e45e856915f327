import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { DomainDefinition } from '../../core/rules/definition';
import type { Rules } from '../../core/rules/rules';
import { monotonicMs, systemClock } from '../../platform/clock';
import { listenAt } from '../../platform/listen-address';
import { openLineFile, type LineFile } from '../../platform/line-file';
import { createDroppedLines, type DroppedLinesDeps } from '../dropped-lines';
import { standardError } from '../../platform/logger/create-logger';
import type { Settings } from '../../settings/settings';
import { merge } from 'rxjs';
import { createLiveView } from '../../stats/dashboard/create-live-view';
import { createRegistry } from '../../stats/registry';
import { removeStaleSocket } from '../../transport/grpc/socket-server';
import { describeStores } from '../actors/describe-store';
import type { Deciders } from '../decider';
import { createOutageLog } from '../outage-log';
import { createOwner, type App } from '../owner';
import { ruleLoads } from '../rule-source';
import { createSecretKeys } from '../secrets/create-secret-keys';
import { logStart, type Start } from '../start';
import { toDecisionOptions } from '../to-options';
import { createFork } from './fork';
import { readMachine } from './machine';
import { planWorkers, type WorkersPlan } from './plan-workers';
import { createOperatorStore, type OwnCounters } from './operator-store';
import { createPool, type WorkerPool } from './pool';

/** How many workers there shall be; undefined: this process decides by itself. Throws when the machine does not allow them. */
export function planFor({ workers }: Settings): WorkersPlan | undefined {
  const plan = planWorkers(workers, readMachine(readText, cpus().length));
  return plan.count === 1 ? undefined : plan;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Removes the Unix socket of a process that was killed: the workers listen on one socket together, and do not look. */
export async function clearSocket({ servers }: Settings): Promise<void> {
  const { unixSocket: path } = servers.grpc;
  if (path === undefined) return;
  const listen = () => removeStaleSocket({ path });
  await listenAt({ listen }, { host: 'GRPC_HOST', port: 'GRPC_PORT', path: 'GRPC_UDS' });
}

/** The owner of several workers, with its clocks and its source of rules. The workers start with it. */
export function assembleOwner(
  start: Start,
  plan: WorkersPlan,
): App & { readonly storeName: string } {
  const { settings, logger } = start;
  const { names: storeNames, description: storeDescription } = describeStores(settings);
  logStart(start, { counters: storeDescription, workers: plan.count });
  const clock = systemClock;
  const registry = createRegistry({ refresh: () => pool.collect() });
  const outages = createOutageLog({ logger, monotonicMs });
  const definitions = new WeakMap<Rules, readonly DomainDefinition[]>();
  const secretKeys = createSecretKeys(settings.secrets.keysFile, {
    ...{ clock, logger, statistics: registry },
  });
  const { tokens } = secretKeys;
  const source = { clock, random: Math.random, logger, outages, tokens };
  const operatorStore = createOperatorStore(settings, {
    ...{ ...source, monotonicMs, statistics: registry },
  });
  const pool: WorkerPool = createPool(
    {
      fork: createFork(plan),
      registry,
      logger,
      monotonicMs,
      loads$: ruleLoads(settings, {
        ...source,
        onCompiled: (rules, domains) => definitions.set(rules, domains),
      }),
      definitionsOf: (rules) => definitions.get(rules) ?? [],
      writeLog: standardError(),
      decisionLines: openDecisionLines(settings, { statistics: registry, logger }),
    },
    { count: plan.count, storeNames, storeDescription },
  );
  const { store, loads$, serves } = pool;
  const deps = {
    ...{ registry, store, loads$, clock, monotonicMs, logger, outages },
    ...{ operatorStore, limitsFrom: operatorStore?.limitsFrom, secretKeys },
    ...{ workers$: serves.changes$, workerCount: plan.count },
    ...{ outagesOfWorkers: pool.outages, heldByWorkers: pool.heldBytes },
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

/** Most bytes of the decision log that wait for standard output. */
const MAX_LINE_BYTES = 4_194_304;

function openDecisionLines(
  { decisionLog: { mode, file } }: Settings,
  deps: DroppedLinesDeps,
): LineFile | undefined {
  if (mode === 'off' || file !== undefined) return undefined;
  const drops = createDroppedLines(deps);
  const lines = openLineFile({
    path: file,
    maxBytes: MAX_LINE_BYTES,
    onDropped: drops.add,
    onError: drops.explain,
  });
  return {
    ...lines,
    async close(withinMs) {
      await lines.close(withinMs);
      drops.close();
    },
  };
}
