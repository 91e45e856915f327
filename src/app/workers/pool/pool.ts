import { defer, merge, of, tap, timer, type Observable } from 'rxjs';
import { createStopSignal } from '../../../../streams';
import type { DomainDefinition } from '../../../core/rules/definition';
import type { Rules } from '../../../core/rules/rules';
import type { LineFile } from '../../../platform/line-file';
import type { Logger } from '../../../platform/logger';
import type { LoadResult } from '../../../rule-sources/load-result';
import { addDifferences, createMergedGauges } from '../../../stats/differences';
import type { LiveView } from '../../../stats/dashboard/create-live-view';
import type { Registry } from '../../../stats/registry';
import type { Deciders, OwnerPorts } from '../../compose/decider';
import { createSlot, drain, type Fork, type Slot, createCollection } from './slot';
import { createListening } from './listening';
import { createMergedStore } from './owner-store';
import { HELD_BYTES, type FromWorker } from '../messages';
import { createPoolLive } from './pool-live';
import { createPoolProfiles } from './pool-profiles';
import { createRebalance } from './rebalance';
import { createRuleRelay } from './rule-relay';

export interface WorkerPoolDeps {
  readonly fork: Fork;
  readonly registry: Registry;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  readonly loads$: Observable<LoadResult<Rules>>;
  /** The definitions of a set of rules. */
  readonly definitionsOf: (rules: Rules) => readonly DomainDefinition[];
  readonly writeLog: (line: string) => void;
  /** Receives the decision log of the workers; undefined: it is off, or they write it to a file. */
  readonly decisionLines?: LineFile | undefined;
}

export interface WorkerPoolOptions {
  readonly count: number;
  readonly storeNames: readonly string[];
  readonly storeDescription: string;
}

/** The owner's handlers for messages of a worker. */
type Handlers = {
  readonly [K in FromWorker['kind']]: (
    slot: Slot,
    message: Extract<FromWorker, { readonly kind: K }>,
  ) => void;
};

/** Interval of checks on the workers. */
const TICK_MS = 1_000;
/** Time limit for the last lines of the decision log. */
const LAST_LINES_MS = 1_000;

/** Manages workers: starts them, sends them rules, health and certificates, merges their counts, replaces those that die. */
export function createPool(deps: WorkerPoolDeps, options: WorkerPoolOptions) {
  const { fork, registry, logger, monotonicMs, definitionsOf, writeLog, decisionLines } = deps;
  const { count } = options;
  const store = createMergedStore(options.storeNames, options.storeDescription);
  const gauges = createMergedGauges(registry, new Set([HELD_BYTES]));
  const stopping = createStopSignal();
  const live = createPoolLive(gauges);
  const listening = createListening(count);
  let ports: OwnerPorts | undefined;
  let pems: NonNullable<OwnerPorts['certificates']>['first'] | undefined;

  const sendHealth = (slot: Slot): void => {
    if (ports === undefined) return;
    const { current } = ports.health;
    const down = [...new Set([...current.down, 'workers'])];
    const status = relay.isOverdue(slot.worker) ? { ...current, serving: false, down } : current;
    slot.send({ kind: 'health', status });
  };
  const sendReason = (slot: Slot): void => {
    if (ports !== undefined) slot.send({ kind: 'no-rules', reason: ports.whyNoRules.current });
  };
  const sendRead = (slot: Slot): void => {
    // Existing rules count as read once they are in force.
    const isAll = ports?.isRead.current === true && ports.rules.current === undefined;
    if (isAll) slot.send({ kind: 'read' });
  };
  const sendChecks = (slot: Slot): void => {
    const from = ports?.checks.current?.from;
    if (from !== undefined) slot.send({ kind: 'checks', from });
  };
  const greet = (slot: Slot): void => {
    if (ports === undefined) return;
    slot.send({ kind: 'welcome', components: ports.components, certificates: pems });
    sendReason(slot);
    sendRead(slot);
    relay.greet(slot);
    sendChecks(slot);
    sendHealth(slot);
    live.greet(slot);
  };
  const handlers: Handlers = {
    hello: greet,
    listening({ worker }, { addresses }) {
      listening.listens(worker, addresses);
    },
    fatal(_slot, { problems }) {
      listening.fail(problems);
    },
    connections({ worker }, { open }) {
      rebalance.counted(worker, open);
    },
    'in-force'({ worker }, { number }) {
      relay.inForce(worker, number);
    },
    store({ worker }, { state }) {
      store.report(worker, state);
    },
    counted(_slot, { differences }) {
      addDifferences(registry, differences);
    },
    gauges({ worker }, message) {
      gauges.report(worker, message.gauges);
    },
    collected({ worker }, { id }) {
      collection.collected(worker, id);
    },
    figures({ worker }, { figures, outages }) {
      live.report(worker, { figures, outages });
    },
    profile(_slot, { id, result }) {
      profiles.answered(id, result);
    },
    decision(_slot, { line }) {
      decisionLines?.write(line);
    },
    log(_slot, { line }) {
      writeLog(line);
    },
  };
  const take = (slot: Slot, message: FromWorker): void => {
    const handle = handlers[message.kind] as (slot: Slot, message: FromWorker) => void;
    handle(slot, message);
  };
  const forget = (worker: number): void => {
    listening.ended(worker);
    rebalance.ended(worker);
    store.report(worker, undefined);
    gauges.report(worker, undefined);
    live.report(worker, undefined);
    collection.ended(worker);
    profiles.ended(worker);
  };
  const createOne = (worker: number): Slot => {
    const slot: Slot = createSlot(
      worker,
      {
        fork,
        monotonicMs,
        isOnlyProcess: () => slots.every((other) => other === slot || other.state === 'dead'),
      },
      {
        message(message) {
          take(slot, message);
        },
        ended(end, restartMs) {
          forget(worker);
          if (restartMs === undefined) return;
          const how = end.signal === null ? { code: end.code } : { signal: end.signal };
          logger.error('a worker exited, starting another in its place', {
            worker,
            ...how,
            restartMs,
          });
          registry.count(RESTARTS, 1);
          relay.ended(worker);
        },
        hangs() {
          logger.error('a worker does not respond and is killed', { worker });
        },
      },
    );
    return slot;
  };
  const slots = Array.from({ length: count }, (_, i) => createOne(i + 1));
  const collection = createCollection(slots);
  const profiles = createPoolProfiles(slots);
  const rebalance = createRebalance(slots, { logger, monotonicMs });
  const relay = createRuleRelay(deps.loads$, {
    slots,
    definitionsOf,
    onOverdue() {
      slots.forEach(sendHealth);
    },
    onTakenBack() {
      registry.count('ratelimit.service.config_load_error', 1);
    },
    monotonicMs,
    logger,
  });
  registry.count(RESTARTS, 0);
  registry.gauge('ratelimit.workers.count', () => listening.count());

  const onEach$ = (changes$: Observable<unknown>, act: (slot: Slot) => void) =>
    changes$.pipe(
      tap(() => {
        slots.forEach(act);
      }),
    );
  const run$ = (given: OwnerPorts): Observable<unknown> => {
    for (const slot of slots) slot.start();
    return merge(
      listening.failed$,
      timer(TICK_MS, TICK_MS).pipe(
        tap(() => {
          for (const slot of slots) slot.tick();
        }),
      ),
      rebalance.run$,
      onEach$(given.health.changes$, sendHealth),
      onEach$(given.checks.changes$, sendChecks),
      onEach$(given.whyNoRules.changes$, sendReason),
      onEach$(given.isRead.changes$, sendRead),
      (given.certificates?.renewals$ ?? of()).pipe(
        tap((renewed) => {
          pems = renewed;
          for (const slot of slots) slot.send({ kind: 'certificates', pems: renewed });
        }),
      ),
    ).pipe(stopping.until());
  };
  return {
    store,
    /** The loads of the rules, each once the workers have it. */
    loads$: relay.loads$,
    /** True from when all workers have listened, while one of them does. */
    serves: listening.serves,
    /** The outages that workers see, while a dashboard is open. */
    outages: live.outages,
    /** Bytes that the connections of all workers hold. */
    heldBytes: () => gauges.read(HELD_BYTES),
    /** Collects the counts of the workers. */
    collect: () => collection.collect(),
    /** The workers as deciders; they start with `run$`. `live` is the owner's own view, whose rules and gauges are shown. */
    deciders(given: OwnerPorts, ownView: LiveView): Deciders {
      ports = given;
      pems = given.certificates?.first;
      return {
        run$: defer(() => run$(given)),
        live: live.over(ownView, slots),
        profiles,
        listen: () => listening.opened,
        async closePorts(withinMs) {
          given.certificates?.close();
          rebalance.close();
          await drain(slots, withinMs);
        },
        async finish() {
          await decisionLines?.close(LAST_LINES_MS);
          stopping.stop();
          listening.close();
        },
        closeTraces: () => Promise.resolve(),
      };
    },
  };
}

/** The deciding processes, and their interface for the owner. */
export type WorkerPool = ReturnType<typeof createPool>;

const RESTARTS = 'ratelimit.workers.restarts';
