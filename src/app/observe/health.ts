import { map, merge, of, tap, type Observable } from 'rxjs';
import {
  createSnapshot,
  createStopSignal,
  eachTrueOnce,
  healthStatus,
  type HealthStatus,
  type Snapshot,
} from '../../../streams';
import type { Rules } from '../../core/rules/rules';
import type { HealthSettings } from '../../settings/servers';
import { isStopping, type Lifecycle } from '../process/run-process';
import type { StoreBackend, StoreConnections } from '../store/backend';

/** Health, with the components that are down but ignored. */
export interface ServiceHealth extends HealthStatus<string> {
  readonly ignored: readonly string[];
}

export interface HealthInputs {
  /** Whether each store has an active connection. */
  readonly stores: StoreConnections;
  readonly rules$: Observable<Rules | undefined>;
  /** Turns true when the rules were read, right or wrong; see `startsWithoutRules`. */
  readonly rulesRead$: Observable<boolean>;
  /** Whether a deciding process can be called; undefined: they live and die with this one. */
  readonly workers$?: Observable<boolean> | undefined;
  readonly lifecycle$: Observable<Lifecycle>;
  /** Whether the secret keys equal those of the other instances; undefined: there are none. */
  readonly keysAgree$?: Observable<boolean> | undefined;
}

/** Whether the service may receive requests. */
export function createHealthActor(
  inputs: HealthInputs & { readonly connected$: Observable<boolean> },
  settings: HealthSettings,
) {
  const status = createSnapshot<ServiceHealth>({ serving: false, down: ['start'], ignored: [] });
  /** Whether all stores are connected. */
  const connected = createSnapshot(false);
  const stopSignal = createStopSignal();
  return {
    run$: merge(
      healthSignals(inputs, settings).pipe(
        tap(({ serving, down }) => {
          status.set({ ...status.current, serving, down });
        }),
      ),
      componentStates(inputs).pipe(
        tap(({ down: ignored }) => {
          status.set({ ...status.current, ignored });
        }),
      ),
      inputs.connected$.pipe(tap(connected.set)),
    ).pipe(stopSignal.until()),
    status,
    connected,
    components: [
      'start',
      ...inputs.stores.keys(),
      'configuration',
      ...(inputs.keysAgree$ === undefined ? [] : ['keys']),
      ...(inputs.workers$ === undefined ? [] : ['workers']),
      'termination',
    ],
    close() {
      stopSignal.stop();
      status.close();
      connected.close();
    },
  };
}

export type HealthActor = ReturnType<typeof createHealthActor>;

const hasDomains = (rules: Rules | undefined) => rules !== undefined && rules.domains.size > 0;

/** The states of components, whether or not settings ignore them. */
function componentStates({ stores, rules$, keysAgree$ }: HealthInputs) {
  const signals = new Map(stores);
  signals.set('configuration', rules$.pipe(map(hasDomains)));
  if (keysAgree$ !== undefined) signals.set('keys', keysAgree$);
  return healthStatus<string>(Object.fromEntries(signals));
}

/**
 * The health components (docs/endpoints.md): which are enabled, and their initial state. An additional one, `start`, keeps requests
 * away from an instance whose ports are open before rules and stores are ready.
 */
export function healthSignals(
  { stores, rules$, rulesRead$, workers$, lifecycle$, keysAgree$ }: HealthInputs,
  { needsConfiguration, needsStoreConnection, needsEqualKeys }: HealthSettings,
): Observable<HealthStatus<string>> {
  const always$ = of(true);
  const signals = new Map<string, Observable<boolean>>();
  signals.set('start', eachTrueOnce([rulesRead$, ...stores.values()]));
  for (const [name, connected$] of stores)
    signals.set(name, needsStoreConnection ? merge(always$, connected$) : always$);
  signals.set('configuration', needsConfiguration ? rules$.pipe(map(hasDomains)) : always$);
  if (keysAgree$ !== undefined) signals.set('keys', needsEqualKeys ? keysAgree$ : always$);
  if (workers$ !== undefined) signals.set('workers', workers$);
  signals.set('termination', lifecycle$.pipe(map((state) => !isStopping(state))));
  return healthStatus<string>(Object.fromEntries(signals));
}

/** Components that are down without making the service unhealthy, and why they are ignored. */
export type NotCounted = () => ReadonlyMap<string, string>;

const REASONS: Readonly<Record<string, string>> = {
  configuration: 'HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=false',
  keys: 'HEALTHY_WITH_EQUAL_KEYS=false',
};

export function createNotCounted(
  { needsStoreConnection }: HealthSettings,
  health: Snapshot<ServiceHealth>,
  store: Pick<StoreBackend, 'hanging' | 'misplaced'>,
): NotCounted {
  const ofStore = needsStoreConnection
    ? 'a connection is open'
    : 'KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION=false';
  return () => {
    const { down, ignored } = health.current;
    const misplaced = store.misplaced().keys();
    const all = [...ignored, ...store.hanging(), ...misplaced];
    const names = all.filter((name) => !down.includes(name));
    return new Map(names.map((name) => [name, REASONS[name] ?? ofStore]));
  };
}
