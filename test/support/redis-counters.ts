import { filter, firstValueFrom, type Subscription } from 'rxjs';
import { createRedisCounters } from '../../src/counters/redis/create-redis-counters';
import type {
  RedisCounters,
  RedisCountersDeps,
  RedisCountersOptions,
  RedisEvent,
} from '../../src/counters/redis/options';

/** Counters that run, with everything that they have told so far. */
export interface RunningRedisCounters extends RedisCounters {
  readonly events: readonly RedisEvent[];
  /** The values of `connected$`. */
  readonly states: readonly boolean[];
  /** What `run$` ended with; undefined while it runs. */
  readonly end: 'complete' | Error | undefined;
  /** Names and sums of what was counted; gauges as they stand. */
  readonly statistics: ReadonlyMap<string, number | (() => number)>;
  kinds(): readonly RedisEvent['kind'][];
  untilConnected(): Promise<void>;
  /** Closes, and stops running. */
  stop(): Promise<void>;
}

export type RedisDeps = Pick<
  RedisCountersDeps,
  'monotonicMs' | 'random' | 'clock' | 'onEvent' | 'onForget'
>;

const running = new Set<RunningRedisCounters>();

/** Closes all counters of a test file; call it in `afterEach`. */
export async function stopRedisCounters(): Promise<void> {
  await Promise.all([...running].map((each) => each.stop()));
}

/** Counters on a server, connecting from now on; fast to try again. Their monotonic clock stands still where none is given. */
export function runRedisCounters(
  options: Pick<RedisCountersOptions, 'address'> & Partial<RedisCountersOptions>,
  { monotonicMs = () => 0, random = () => 0.5, clock, onEvent, onForget }: Partial<RedisDeps> = {},
): RunningRedisCounters {
  const events: RedisEvent[] = [];
  const states: boolean[] = [];
  const statistics = new Map<string, number | (() => number)>();
  let end: 'complete' | Error | undefined;
  const counters = createRedisCounters(
    {
      monotonicMs,
      random,
      ...(clock && { clock }),
      onForget,
      onEvent: (event) => {
        events.push(event);
        onEvent?.(event);
      },
      statistics: {
        count: (name, by) => statistics.set(name, Number(statistics.get(name) ?? 0) + by),
        gauge: (name, read) => {
          statistics.set(name, read);
          return () => statistics.delete(name);
        },
      },
    },
    { timeoutMs: 2_000, startupInitialMs: 50, startupMaxMs: 100, ...options },
  );
  const subscriptions: Subscription[] = [
    counters.connected$.subscribe((state) => states.push(state)),
    counters.run$.subscribe({
      complete: () => {
        end = 'complete';
      },
      error: (error: unknown) => {
        end = error as Error;
      },
    }),
  ];
  const self: RunningRedisCounters = {
    ...counters,
    events,
    states,
    statistics,
    get end() {
      return end;
    },
    kinds: () => events.map(({ kind }) => kind),
    async untilConnected() {
      await firstValueFrom(counters.connected$.pipe(filter(Boolean)));
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
