import { limiterOf, type StateLimiter, plain } from '../support/limiters';
import { type AlgorithmName } from '../../src/core/kinds/kinds';
import type { Counters, Increment } from '../../src/core/ports';
import { SOME_MATCH } from '../support/rules';
import { compareOnRedis, inWaves } from './turns';

const KEYS = 10_000;

interface Shape {
  readonly name: string;
  readonly algorithm: StateLimiter | undefined;
  readonly limit: number;
}

function shape(name: string, algorithm: AlgorithmName, limit: number): Shape {
  const definition = { name: algorithm, limit, burst: undefined, chargeDenied: false };
  return { name, limit, algorithm: limiterOf({ ...definition, periodSeconds: 3_600 }) };
}

const SHAPES: readonly Shape[] = [
  { name: 'fixed window', algorithm: undefined, limit: 50_000_000 },
  shape('gcra', 'gcra', 50_000_000),
  shape('sliding window', 'sliding_window', 50_000_000),
  { name: 'fixed window, denied', algorithm: undefined, limit: 1 },
  shape('gcra, denied', 'gcra', 1),
  shape('sliding window, denied', 'sliding_window', 1),
];

function incrementOf({ algorithm, limit }: Shape, keyAt: number): Increment {
  return {
    key: `edge_user_${String(limit)}_${String(keyAt)}${algorithm?.keyEnd ?? '_1795240200'}`,
    hits: 1,
    ...plain(limit),
    ttlSeconds: 3_600 + (keyAt % 300),
    windowEndSeconds: Math.ceil(Date.now() / 1_000) + 3_600,
    ...(algorithm && { limiter: algorithm }),
    ...SOME_MATCH,
  };
}

/** Every key is asked again after 10,000 others. */
function createLoad(given: Shape, counters: Pick<Counters, 'add'>) {
  const all = Array.from({ length: KEYS }, (_, at) => incrementOf(given, at));
  let at = 0;
  return inWaves((perBatch) => {
    const increments: Increment[] = [];
    for (let i = 0; i < perBatch; i += 1)
      increments.push(all[(at = (at + 7_919) % KEYS)] as Increment);
    return counters.add({ increments, groupEnds: undefined, nowSeconds: Date.now() / 1_000 });
  });
}

void compareOnRedis(
  'CPU µs per counter',
  11,
  (counters) =>
    Promise.resolve(SHAPES.map((one) => ({ name: one.name, load: createLoad(one, counters) }))),
  (at) => at - (at % 3),
);
