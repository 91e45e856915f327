import { createSlot } from '../../../../../src/app/workers/pool/slot';
import { createFakeWorkers } from '../../../../support/fake-workers';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const HELLO = { kind: 'hello' } as const;

function start({ isAlone = (): boolean => false } = {}) {
  const { fork, started } = createFakeWorkers();
  const restarts: (number | undefined)[] = [];
  let hangs = 0;
  const slot = createSlot(
    3,
    { fork, monotonicMs: () => jest.now(), isOnlyProcess: isAlone },
    {
      message: () => undefined,
      ended: (_end, restartMs) => restarts.push(restartMs),
      hangs: () => (hangs += 1),
    },
  );
  slot.start();
  return { slot, started, restarts, hangs: () => hangs };
}

const tick = (slot: ReturnType<typeof start>['slot'], times: number) => {
  for (let i = 0; i < times; i += 1) slot.tick();
};

it('replaces a worker that dies of its start after 100 ms, doubling to 5 s', () => {
  const { started, restarts } = start();
  for (let deaths = 1; deaths <= 8; deaths += 1) {
    started.at(-1)?.end({ code: 1 });
    const afterMs = restarts.at(-1) ?? 0;
    jest.advanceTimersByTime(afterMs - 1);
    expect(started).toHaveLength(deaths);
    jest.advanceTimersByTime(1);
    expect(started).toHaveLength(deaths + 1);
  }
  expect(restarts).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(started.map(({ worker }) => worker)).toEqual(Array.from({ length: 9 }, () => 3));
});

it('begins at 100 ms again for a worker that has lived for 10 s', () => {
  const { started, restarts } = start();
  started.at(-1)?.end();
  jest.advanceTimersByTime(100);
  started.at(-1)?.end();
  jest.advanceTimersByTime(200 + 10_000);
  started.at(-1)?.end();
  expect(restarts).toEqual([100, 200, 100]);
});

it('waits no longer than 100 ms where no other place has a worker, and goes on to double for when one has', () => {
  let isAlone = true;
  const { started, restarts } = start({ isAlone: () => isAlone });
  const die = () => {
    started.at(-1)?.end({ signal: 'SIGKILL' });
    jest.advanceTimersByTime(restarts.at(-1) ?? 0);
  };
  for (let deaths = 1; deaths <= 3; deaths += 1) die();
  isAlone = false;
  die();
  expect(restarts).toEqual([100, 100, 100, 800]);
});

it('aborts a worker that is silent for 5 s, and kills it 1 s later', () => {
  const { slot, started, hangs } = start();
  started[0]?.say(HELLO);
  tick(slot, 4);
  started[0]?.say(HELLO);
  tick(slot, 4);
  expect(started[0]?.signals).toEqual([]);
  tick(slot, 1);
  expect(started[0]?.signals).toEqual(['SIGABRT']);
  tick(slot, 1);
  expect(started[0]?.signals).toEqual(['SIGABRT', 'SIGKILL']);
  expect(hangs()).toBe(1);
  jest.advanceTimersByTime(100);
  expect(started).toHaveLength(2);
});

it('gives a worker that starts 30 s to say the first word', () => {
  const { slot, started } = start();
  tick(slot, 29);
  expect(started[0]?.signals).toEqual([]);
  tick(slot, 1);
  expect(started[0]?.signals).toEqual(['SIGABRT']);
});

it('starts nobody after its end was asked for, not even the successor that was due', async () => {
  const { slot, started } = start();
  started[0]?.end();
  await slot.retire();
  jest.advanceTimersByTime(60_000);
  expect(started).toHaveLength(1);
});

it('is retired when its process has ended', async () => {
  const { slot, started, restarts } = start();
  let isOver = false;
  const over = slot.retire().then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  started[0]?.end({ code: 0 });
  await over;
  expect(restarts).toEqual([undefined]);
});
