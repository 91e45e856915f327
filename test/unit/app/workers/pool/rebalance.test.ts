import { array, assert, integer, property } from 'fast-check';
import type { Logger } from '../../../../../src/platform/logger';
import { createRebalance, sharesOf } from '../../../../../src/app/workers/pool/rebalance';
import { createSlot } from '../../../../../src/app/workers/pool/slot';
import { createFakeWorkers, type FakeWorker } from '../../../../support/fake-workers';
import { silentLogger } from '../../../../support/silent-logger';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const LOOK_MS = 2_000;

/** So many workers, each with connections that it tells when it is asked. */
function start(held: number[], logger: Logger = silentLogger) {
  const { fork, started } = createFakeWorkers();
  const monotonicMs = () => jest.now();
  const slots = held.map((_, i) =>
    createSlot(
      i + 1,
      { fork, monotonicMs, isOnlyProcess: () => false },
      {
        message(message) {
          if (message.kind === 'connections') rebalance.counted(i + 1, message.open);
        },
        ended() {
          rebalance.ended(i + 1);
        },
        hangs: () => undefined,
      },
    ),
  );
  const rebalance = createRebalance(slots, { logger, monotonicMs });
  slots.forEach((slot, i) => {
    slot.start();
    started[i]?.say({ kind: 'hello' });
  });
  rebalance.run$.subscribe();
  /** Lets the next look come, and all but those that are `silent` answer it. */
  const look = async (silent: readonly number[] = []) => {
    await jest.advanceTimersByTimeAsync(LOOK_MS);
    started.forEach((worker, i) => {
      const isAsked = worker.received.some(({ kind }) => kind === 'count-connections');
      if (isAsked && !silent.includes(i + 1))
        worker.say({ kind: 'connections', open: held[i] ?? 0 });
    });
    return started.map(({ received }) => capsIn(received.splice(0)));
  };
  return { rebalance, started, look };
}

const capsIn = (received: FakeWorker['received']) =>
  received.flatMap((message) => (message.kind === 'keep-connections' ? message.most : []));

it.each([
  { name: 'an even share', held: [2, 2, 2, 2] },
  { name: 'odd ones', held: [3, 2, 3, 2] },
  { name: 'a difference within a tenth', held: [110, 100, 100, 90] },
])('leaves workers alone that have $name', async ({ held }) => {
  const { look } = start(held);
  expect(await look()).toEqual(held.map(() => []));
});

it('caps those that have their share while one has less, and lifts the caps once they are even', async () => {
  const held = [3, 3, 2, 0];
  const { look } = start(held);
  expect(await look()).toEqual([[2], [2], [2], []]);
  held.splice(0, 4, 2, 2, 2, 2);
  expect(await look()).toEqual([[undefined], [undefined], [undefined], []]);
  expect(await look()).toEqual([[], [], [], []]);
});

it('lifts the caps at once when a worker ends: it may have been the one with room', async () => {
  const { started, look } = start([4, 0]);
  expect(await look()).toEqual([[2], []]);
  started[1]?.end();
  expect(started[0]?.received).toEqual([{ kind: 'keep-connections', most: undefined }]);
});

it('takes connections that left and stayed away for gone', async () => {
  const held = [2, 0];
  const { look } = start(held);
  expect(await look()).toEqual([[1], []]);
  held[0] = 1;
  expect(await look()).toEqual([[undefined], []]);
});

it('lifts the caps when a worker does not answer any more', async () => {
  const { look } = start([4, 0]);
  expect(await look()).toEqual([[2], []]);
  expect(await look([2])).toEqual([[], []]);
  expect(await look([2])).toEqual([[undefined], []]);
});

it('does nothing while a worker does not answer', async () => {
  const { look } = start([4, 0]);
  expect(await look([2])).toEqual([[], []]);
  expect(await look([2])).toEqual([[], []]);
});

it('says so in the log once a minute, however often clients come and go', async () => {
  const info = jest.fn();
  const { look } = start([4, 0], { ...silentLogger, info });
  for (let i = 0; i < 30; i += 1) await look();
  expect(info).toHaveBeenCalledTimes(1);
  await look();
  expect(info).toHaveBeenCalledTimes(2);
  expect(info).toHaveBeenLastCalledWith(expect.any(String), { leaving: 2 });
});

it('looks no more after its end', async () => {
  const { rebalance, started } = start([4, 0]);
  rebalance.close();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(started[0]?.received).toEqual([]);
});

it('shares all connections out, and no share differs from another by more than one', () => {
  assert(
    property(array(integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 64 }), (held) => {
      const shares = sharesOf(held.map((open, i) => [i + 1, open] as const));
      const given = shares.map(({ share }) => share);
      const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
      expect(sum(given)).toBe(sum(held));
      expect(Math.max(...given) - Math.min(...given)).toBeLessThanOrEqual(1);
      // Who has too many finds somebody who has too few.
      const isCrowded = shares.some(({ open, share }) => open > share);
      expect(shares.some(({ open, share }) => open < share)).toBe(isCrowded);
    }),
  );
});
