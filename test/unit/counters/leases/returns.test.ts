import { Subject, type Observable } from 'rxjs';
import type { CounterReply, Counters } from '../../../../src/core/ports';
import { MAX_RETURNS } from '../../../../src/counters/leases/own-operations';
import { leasedCounters } from '../../../support/lease-play/leased-counters';
import { increment } from '../../../support/increments';
import { SOME_MATCH } from '../../../support/rules';

const RULE = { ...SOME_MATCH.rule, isLeased: true };
const LEASE_TIME_MS = 100;
const COUNTERS = 2 * MAX_RETURNS + 20;

/** An instance whose time is set by hand, and a store whose answers can be held up. */
function start() {
  const counts = new Map<string, number>();
  const sent: (readonly number[])[] = [];
  const time = { nowMs: 0 };
  const sweeps: { readonly afterMs: number; readonly end: Subject<void> }[] = [];
  const store = { isHanging: false };
  const counters: Counters = {
    add: async ({ increments }): Promise<CounterReply> => {
      sent.push(increments.map(({ hits }) => Number(hits)));
      if (store.isHanging) await new Promise(() => undefined);
      const after = increments.map(({ key, hits }) => {
        counts.set(key, (counts.get(key) ?? 0) + Number(hits));
        return counts.get(key) as number;
      });
      return { after, held: undefined, failures: undefined };
    },
    close: () => Promise.resolve(),
  };
  const wait = (afterMs: number): Observable<void> => {
    const end = new Subject<void>();
    sweeps.push({ afterMs, end });
    return end;
  };
  const leased = leasedCounters(
    {
      ...{ plain: counters, counters, clock: () => 0, wait },
      monotonicMs: () => time.nowMs,
    },
    {
      ...{ timeMs: LEASE_TIME_MS, share: 0.5, instances: 1, minRate: 20, maxBytes: 4_000_000 },
      sendsApart: false,
    },
  );
  leased.run$.subscribe();
  const keys = Array.from({ length: COUNTERS }, (_, at) => `edge_key_${String(at)}_0`);
  const askAll = async (hits: number): Promise<void> => {
    const increments = keys.map((key) => increment(key, hits, { limit: 10_000, rule: RULE }));
    await leased.add({ increments, groupEnds: undefined, nowSeconds: 0 });
  };
  const sweep = async (): Promise<number> => {
    const { afterMs, end } = sweeps.pop() as (typeof sweeps)[number];
    end.next();
    end.complete();
    await new Promise(setImmediate);
    return afterMs;
  };
  const leaseAll = async (): Promise<void> => {
    await askAll(100);
    await askAll(1);
    expect(keys.every((key) => (leased.readLease({ key, rule: RULE })?.left ?? 0) > 0)).toBe(true);
    sent.length = 0;
  };
  const sum = () => [...counts.values()].reduce((so, count) => so + count, 0);
  return { leased, store, time, sent, leaseAll, sweep, sum };
}

it('gives back so many leases at a time, however many are idle, and goes on a few milliseconds later', async () => {
  const { leased, time, sent, leaseAll, sweep, sum } = start();
  await leaseAll();
  time.nowMs = 2 * LEASE_TIME_MS;
  const waits = [await sweep(), await sweep(), await sweep(), await sweep()];
  expect(waits).toEqual([25, 5, 5, 25]);
  expect(sent.map(({ length }) => length)).toEqual([MAX_RETURNS, MAX_RETURNS, 20]);
  expect(sum()).toBe(COUNTERS * 101);
  await leased.close();
});

it('gives all back at its stop, so many at a time', async () => {
  const { leased, sent, leaseAll, sum } = start();
  await leaseAll();
  await leased.close();
  expect(sent.map(({ length }) => length)).toEqual([MAX_RETURNS, MAX_RETURNS, 20]);
  expect(sum()).toBe(COUNTERS * 101);
});

it('leaves hits charged that a store which hangs at the stop does not take back, and waits for it once', async () => {
  const { leased, store, sent, leaseAll, sum } = start();
  await leaseAll();
  store.isHanging = true;
  const closed = leased.close();
  const first = await Promise.race([closed, new Promise((resolve) => setImmediate(resolve, 'on'))]);
  expect(first).toBe('on');
  expect(sent.map(({ length }) => length)).toEqual([MAX_RETURNS, MAX_RETURNS, 20]);
  expect(sum()).toBeGreaterThan(COUNTERS * 101);
});
