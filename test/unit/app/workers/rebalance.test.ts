import { array, assert, integer, property } from 'fast-check';
import { createRebalance, sharesOf } from '../../../../src/app/workers/rebalance';
import { createSlot } from '../../../../src/app/workers/slot';
import { createFakeWorkers, type FakeWorker } from '../../../support/fake-workers';
import { silentLogger } from '../../../support/silent-logger';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** So many workers that have listened, each with connections that answer as the owner asks. */
function start(held: number[]) {
  const { fork, started } = createFakeWorkers();
  const slots = held.map((_, i) =>
    createSlot(
      i + 1,
      { fork, monotonicMs: () => Date.now() },
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
  const rebalance = createRebalance(slots, silentLogger);
  slots.forEach((slot, i) => {
    slot.start();
    started[i]?.say({ kind: 'hello' });
    rebalance.listens(i + 1);
  });
  const answerCounts = () => {
    started.forEach((worker, i) => {
      if (worker.received.splice(0).some(({ kind }) => kind === 'count-connections'))
        worker.say({ kind: 'connections', open: held[i] ?? 0 });
    });
  };
  return { rebalance, started, answerCounts };
}

const capsOf = (started: readonly FakeWorker[]) =>
  started.map(({ received }) =>
    received
      .splice(0)
      .flatMap((message) => (message.kind === 'keep-connections' ? message.most : [])),
  );

it('asks nothing of workers that listen for the first time', async () => {
  const { started } = start([3, 0]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(started.map(({ received }) => received)).toEqual([[], []]);
});

it('caps those that have their share while one has less, and lifts the caps when it is over', async () => {
  const held = [3, 3, 2, 0];
  const { rebalance, started, answerCounts } = start(held);
  rebalance.listens(4);
  await jest.advanceTimersByTimeAsync(1_000);
  answerCounts();
  expect(capsOf(started)).toEqual([[2], [2], [2], []]);
  held.splice(0, 4, 2, 2, 2, 2);
  await jest.advanceTimersByTimeAsync(2_000);
  answerCounts();
  expect(capsOf(started)).toEqual([[undefined], [undefined], [undefined], []]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(started.map(({ received }) => received.length)).toEqual([3, 3, 3, 3]);
});

it('lifts the caps at once when a worker ends: it may have been the one with room', async () => {
  const { rebalance, started, answerCounts } = start([4, 0]);
  rebalance.listens(2);
  await jest.advanceTimersByTimeAsync(1_000);
  answerCounts();
  started[1]?.end();
  expect(started[0]?.received).toEqual([
    { kind: 'keep-connections', most: 2 },
    { kind: 'keep-connections', most: undefined },
  ]);
});

it('lifts the caps after its last look, even where clients stayed away', async () => {
  const { rebalance, started, answerCounts } = start([2, 0]);
  rebalance.listens(2);
  for (const ms of [1_000, 2_000, 2_000, 2_000, 2_000]) {
    await jest.advanceTimersByTimeAsync(ms);
    answerCounts();
    expect(capsOf(started)[0]).toEqual([1]);
  }
  await jest.advanceTimersByTimeAsync(2_000);
  expect(capsOf(started)[0]).toEqual([undefined]);
});

it('lifts the caps when a worker does not answer any more', async () => {
  const { rebalance, started, answerCounts } = start([4, 0]);
  rebalance.listens(2);
  await jest.advanceTimersByTimeAsync(1_000);
  answerCounts();
  expect(capsOf(started)[0]).toEqual([2]);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(capsOf(started)[0]).toEqual([]);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(capsOf(started)[0]).toEqual([undefined]);
});

it('does nothing while a worker does not answer', async () => {
  const { rebalance, started } = start([4, 0]);
  rebalance.listens(2);
  await jest.advanceTimersByTimeAsync(1_000);
  started[0]?.say({ kind: 'connections', open: 4 });
  expect(started[0]?.received).toEqual([{ kind: 'count-connections' }]);
});

it('starts no look after its end', async () => {
  const { rebalance, started } = start([4, 0]);
  rebalance.listens(2);
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
