import { isRolling, type Algorithm } from '../../core/algorithms/algorithm';
import { unusedAt, usedHits } from '../../core/algorithms/counter-state';
import { tickAt } from '../../core/algorithms/ticks';
import { readWritten, writeUsed } from '../../core/algorithms/written';
import { StoreError } from '../../core/errors';
import { type CounterReading, type CounterWriter, type Increment } from '../../core/ports';
import { toKeyError } from '../count';
import { type RedisCounters } from './options';

type Asking = Pick<RedisCounters, 'ask'>;

/** Deletes and sets counters, a command or two for each. */
export function createRedisWriter(counters: Asking): CounterWriter {
  const removeOne = async ({ key }: Increment): Promise<void> => {
    await counters.ask(key, [['del', key]]);
  };
  const setOne = async (increment: Increment, used: number): Promise<void> => {
    const { key, rule } = increment;
    const { value, lifeMs } = isRolling(rule.algorithm)
      ? await writtenNow(counters, key, rule.algorithm, used)
      : { value: String(used), lifeMs: await lifeOf(counters, increment) };
    await counters.ask(key, [['psetex', key, String(lifeMs), value]]);
  };
  return {
    remove: (all) => settleEach(all, removeOne),
    set: (all, used) => settleEach(all, (one) => setOne(one, used)),
  };
}

/** A counter of gcra or sliding_window as it stands, from its own form of value. */
export async function readRolling(
  counters: Asking,
  key: string,
  algorithm: Algorithm,
): Promise<Omit<CounterReading, 'store'>> {
  const [value, lifeMs, time] = await counters.ask(key, [['get', key], ['pttl', key], ['time']]);
  const nowSeconds = toSeconds(time);
  if (value === null) {
    const state = unusedAt(algorithm, tickAt(nowSeconds, algorithm.tickMicros));
    return { count: 0, state, expiresInSeconds: undefined };
  }
  const state = readWritten(algorithm, value as string, nowSeconds);
  if (state === undefined)
    throw toKeyError(`the value of this key was not written by ${algorithm.name}`);
  const expiresInSeconds = Math.max(0, Math.ceil(Number(lifeMs) / 1_000));
  return { count: usedHits(algorithm, state), state, expiresInSeconds };
}

async function writtenNow(counters: Asking, key: string, algorithm: Algorithm, used: number) {
  const [time] = await counters.ask(key, [['time']]);
  const { value, lifetimeMs } = writeUsed(algorithm, used, toSeconds(time));
  return { value, lifeMs: lifetimeMs };
}

/** Milliseconds for which a counter still lives; one that does not exist gets those of a new one. */
async function lifeOf(counters: Asking, { key, ttlSeconds }: Increment): Promise<number> {
  const [lifeMs] = await counters.ask(key, [['pttl', key]]);
  return Number(lifeMs) > 0 ? Number(lifeMs) : ttlSeconds * 1_000;
}

/** What TIME answers: seconds and microseconds. */
function toSeconds(time: unknown): number {
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : [];
  return (seconds ?? NaN) + (micros ?? NaN) / 1_000_000;
}

async function settleEach(
  all: readonly Increment[],
  act: (one: Increment) => Promise<void>,
): Promise<readonly (StoreError | undefined)[]> {
  return Promise.all(
    all.map(async (one) => {
      try {
        await act(one);
        return undefined;
      } catch (error) {
        if (error instanceof StoreError) return error;
        throw error;
      }
    }),
  );
}
