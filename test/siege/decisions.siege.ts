import { planBatch } from '../../src/core/planning/plan';
import { windowsAt } from '../../src/core/planning/windows';
import type { CounterBatch, CounterReply } from '../../src/core/ports';
import { createDecider } from '../support/decider';
import { readCoreMs } from '../support/edge/core-time';
import { expectFigure } from '../support/edge/figure';
import { request } from '../support/requests';
import { rulesOf } from '../support/rules';

const NOW = 1_795_240_201.5;
const rules = rulesOf('shop', [{ key: 'user', limit: [10, 'HOUR'] }]);

it('a plan costs as much for values that are alike as for others', () => {
  const padding = 'x'.repeat(60_000);
  const requests = Array.from({ length: 800 }, (_, i) =>
    request('shop', [`user=${padding}${String(i).padStart(4, '0')}`]),
  );
  const options = { keyPrefix: 'p:', ttlJitterSeconds: 300, holdBack: false };
  const before = process.cpuUsage();
  const { increments } = planBatch(rules, requests, windowsAt(NOW), options, () => 0.5);
  // Each compared with all others took several seconds.
  const value = process.cpuUsage(before).user / 1_000;
  expect(increments).toHaveLength(800);
  expectFigure({ name: 'CPU of a plan', value, unit: 'ms', below: 1_000 });
});

it('judges 40,000 descriptors of a store that reads first in time that grows with them', async () => {
  const add = ({ increments }: CounterBatch): Promise<CounterReply> =>
    Promise.resolve({ after: increments.map(() => 1), held: undefined, failures: undefined });
  const millisOf = async (size: number): Promise<number> => {
    const decide = createDecider(
      { rules: { current: rules }, counters: { add }, clock: () => NOW },
      { readFirst: true },
    );
    const one = request(
      'shop',
      Array.from({ length: size }, (_, at) => `user=${String(at)}`),
    );
    const startedMs = readCoreMs();
    await decide(one);
    return readCoreMs() - startedMs;
  };
  await millisOf(5_000);
  const few = Math.min(await millisOf(5_000), await millisOf(5_000), await millisOf(5_000));
  // A quadratic cost is 64 times as much.
  const value = (await millisOf(40_000)) / few;
  expectFigure({ name: 'cost of 8 times as many', value, unit: 'times', below: 24 });
});
