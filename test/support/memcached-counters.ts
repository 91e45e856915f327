import { filter, firstValueFrom, Subject, type Subscription } from 'rxjs';
import {
  createMemcachedCounters,
  type MemcachedCounters,
} from '../../src/counters/memcached/create-memcached-counters';
import type {
  MemcachedCountersDeps,
  MemcachedCountersOptions,
  MemcachedEvent,
  NodeAddress,
} from '../../src/counters/memcached/options';

/** Counters that run, with everything that they have told so far. */
export interface RunningMemcachedCounters extends MemcachedCounters {
  readonly events: readonly MemcachedEvent[];
  /** The values of `connected$`. */
  readonly states: readonly boolean[];
  readonly hasEnded: boolean;
  /** Names and sums of what was counted. */
  readonly statistics: ReadonlyMap<string, number>;
  kinds(): readonly MemcachedEvent['kind'][];
  untilConnected(nodes?: number): Promise<void>;
  stop(): Promise<void>;
}

const running = new Set<RunningMemcachedCounters>();

/** Closes all counters of a test file; call it in `afterEach`. */
export async function stopMemcachedCounters(): Promise<void> {
  await Promise.all([...running].map((each) => each.stop()));
}

/** Counters on these nodes, connecting from now on; fast to try again. Their monotonic clock stands still where none is given. */
export function runMemcachedCounters(
  addresses: readonly NodeAddress[],
  options: Partial<MemcachedCountersOptions> = {},
  more: Partial<MemcachedCountersDeps> = {},
): RunningMemcachedCounters {
  const events: MemcachedEvent[] = [];
  const told = new Subject<void>();
  const states: boolean[] = [];
  const statistics = new Map<string, number>();
  let hasEnded = false;
  const counters = createMemcachedCounters(
    {
      monotonicMs: () => 0,
      random: () => 0.5,
      onEvent: (event) => {
        events.push(event);
        told.next();
      },
      statistics: {
        count: (name, by) => statistics.set(name, (statistics.get(name) ?? 0) + by),
        gauge: () => () => undefined,
      },
      ...more,
    },
    {
      nodes: { kind: 'list', addresses },
      timeoutMs: 2_000,
      initialIntervalMs: 50,
      maxIntervalMs: 100,
      ...options,
    },
  );
  const subscriptions: Subscription[] = [
    counters.connected$.subscribe((state) => states.push(state)),
    counters.run$.subscribe({
      complete: () => {
        hasEnded = true;
      },
    }),
  ];
  const self: RunningMemcachedCounters = {
    ...counters,
    events,
    states,
    statistics,
    get hasEnded() {
      return hasEnded;
    },
    get pendingKeys() {
      return counters.pendingKeys;
    },
    kinds: () => events.map(({ kind }) => kind),
    async untilConnected(nodes = 1) {
      const count = () => events.filter(({ kind }) => kind === 'connected').length;
      if (count() < nodes) await firstValueFrom(told.pipe(filter(() => count() >= nodes)));
    },
    async stop() {
      running.delete(self);
      await counters.close();
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
  running.add(self);
  return self;
}

/** Waits until every hit that was answered has been added or given up, on the connection that has this key. */
export async function untilAdded(counters: MemcachedCounters, key: string): Promise<void> {
  // The answer to a look comes behind those to what was sent before it.
  while (counters.pendingKeys > 0) await counters.peek(key);
}
