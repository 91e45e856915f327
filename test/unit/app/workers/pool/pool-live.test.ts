import { BUSY } from '../../../../../src/platform/busy-share';
import { createPoolLive } from '../../../../../src/app/workers/pool/pool-live';
import type { SeenByWorker } from '../../../../../src/app/workers/messages';
import { createSlot, type Slot } from '../../../../../src/app/workers/pool/slot';
import { createLiveView } from '../../../../../src/stats/dashboard/create-live-view';
import { createMergedGauges } from '../../../../../src/stats/differences';
import { createRegistry } from '../../../../../src/stats/registry';
import { createFakeWorkers, type FakeWorker } from '../../../../support/fake-workers';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const CLOCK = () => 0;
const NO_EVENTS = { message: () => undefined, ended: () => undefined, hangs: () => undefined };

/** Two workers that are up, of which the second one died once, and the view of both. */
function start() {
  const { fork, started } = createFakeWorkers();
  const slots = [1, 2].map((worker) =>
    createSlot(worker, { fork, monotonicMs: CLOCK, isOnlyProcess: () => false }, NO_EVENTS),
  );
  for (const slot of slots) slot.start();
  started[1]?.end();
  jest.runOnlyPendingTimers();
  const [one, , two] = started as [FakeWorker, FakeWorker, FakeWorker];
  for (const worker of [one, two]) worker.say({ kind: 'hello' });
  const registry = createRegistry();
  const gauges = createMergedGauges(registry);
  const own = createLiveView(
    { rules: { current: undefined }, registry, clock: CLOCK, monotonicMs: CLOCK, random: CLOCK },
    { keyPrefix: '' },
  );
  const live = createPoolLive(gauges);
  const view = live.over(own, slots);
  const seen = (requests: number, outages: SeenByWorker['outages'] = []): SeenByWorker => ({
    figures: { ...own.take(), requests },
    outages,
  });
  const watched = () =>
    [one, two].map(({ received }) =>
      received.flatMap((message) => (message.kind === 'watch' ? [message.isOn] : [])),
    );
  return { live, view, gauges, slots, watched, seen };
}

it('asks the workers for figures while somebody looks', () => {
  const { live, view, slots, watched } = start();
  const [one, two] = slots as [Slot, Slot];
  live.greet(one);
  expect(watched()).toEqual([[], []]);
  view.start();
  view.start();
  live.greet(two);
  expect(watched()).toEqual([[true], [true, true]]);
  view.stop();
  expect(watched()).toEqual([[true], [true, true]]);
  view.stop();
  expect(watched()).toEqual([
    [true, false],
    [true, true, false],
  ]);
});

it('shows what each worker did, and all of them together', () => {
  const { live, view, gauges, seen } = start();
  view.start();
  live.report(1, seen(3));
  live.report(2, seen(4));
  gauges.report(2, new Map([[BUSY, 0.5]]));
  expect(view.take()).toMatchObject({
    requests: 7,
    workers: [
      { worker: 1, isUp: true, restarts: 0, requests: 3, busy: undefined },
      { worker: 2, isUp: true, restarts: 1, requests: 4, busy: 0.5 },
    ],
  });
});

it('leaves out a worker that has ended, and what was said before nobody looked', () => {
  const { live, view, seen } = start();
  view.start();
  live.report(1, seen(3));
  live.report(2, seen(4));
  live.report(2, undefined);
  expect(view.take().requests).toBe(3);
  view.stop();
  view.start();
  expect(view.take().requests).toBe(0);
  view.stop();
});

it('names each outage that workers see once, the one that has lasted longest', () => {
  const { live, view, seen } = start();
  view.start();
  const outage = (name: string, lastedMs: number) => {
    const lines = { level: 'error', failing: name, ended: '' } as const;
    return { name, reason: { lines, fields: {} }, lastedMs };
  };
  live.report(1, seen(0, [outage('calls', 10)]));
  live.report(2, seen(0, [outage('calls', 30), outage('counters', 20)]));
  expect(live.outages()).toEqual([outage('calls', 30), outage('counters', 20)]);
  live.report(2, undefined);
  expect(live.outages()).toEqual([outage('calls', 10)]);
  view.stop();
});
