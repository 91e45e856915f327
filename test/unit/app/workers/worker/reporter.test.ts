import { createReporter } from '../../../../../src/app/workers/worker/reporter';
import type { FromWorker } from '../../../../../src/app/workers/messages';
import { createRegistry } from '../../../../../src/stats/registry';

const COUNTER = 'calls';

/** A worker's reports over a channel that takes a message when the test says so. */
function start() {
  const registry = createRegistry();
  const sent: FromWorker[] = [];
  const taken: (() => void)[] = [];
  const reporter = createReporter(registry, (message) => {
    sent.push(message);
    return new Promise((resolve) => taken.push(resolve));
  });
  /** Lets the channel take messages until nothing more is sent. */
  const takeAll = async () => {
    do {
      for (const resolve of taken.splice(0)) resolve();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    } while (taken.length > 0);
  };
  const counted = () =>
    sent.flatMap((message) =>
      message.kind === 'counted'
        ? message.differences.series.flatMap(([, name, by]) => (name === COUNTER ? by : []))
        : [],
    );
  return { registry, reporter, sent, takeAll, counted };
}

it('reports what was counted since, then the gauges, then that it was asked', async () => {
  const { registry, reporter, sent, takeAll, counted } = start();
  registry.count(COUNTER, 3);
  registry.gauge('open', () => 7);
  const reported = reporter.report(1);
  await takeAll();
  await reported;
  expect(sent.map(({ kind }) => kind)).toEqual(['counted', 'gauges', 'collected']);
  expect(sent[1]).toMatchObject({ gauges: new Map([['open', 7]]) });
  registry.count(COUNTER, 2);
  void reporter.report(2);
  await takeAll();
  expect(counted()).toEqual([3, 2]);
});

it('names a counter before it has counted anything, once', async () => {
  const { registry, reporter, takeAll, counted } = start();
  registry.count(COUNTER, 0);
  for (let i = 0; i < 2; i += 1) {
    void reporter.report();
    await takeAll();
  }
  expect(counted()).toEqual([0]);
});

it('reports once more for all that ask during a report', async () => {
  const { registry, reporter, sent, takeAll, counted } = start();
  registry.count(COUNTER, 1);
  void reporter.report(1);
  registry.count(COUNTER, 1);
  void reporter.report(2);
  void reporter.report(3);
  await takeAll();
  const ids = sent.flatMap((message) => (message.kind === 'collected' ? [message.id] : []));
  expect(ids).toEqual([1, 2, 3]);
  expect(sent.filter(({ kind }) => kind === 'gauges')).toHaveLength(2);
  expect(counted().reduce((sum, by) => sum + by, 0)).toBe(2);
});

it('sends an owner that does not read no more than one message', async () => {
  const { registry, reporter, sent } = start();
  for (let i = 0; i < 100; i++) {
    registry.count(COUNTER, 1);
    void reporter.report();
  }
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect(sent).toHaveLength(1);
});
