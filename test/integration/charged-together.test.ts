import fc from 'fast-check';
import type { LimitDefinition } from '../../src/core/rules/definition';
import { compileRules } from '../../src/core/rules/compile';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { budgetOf, type LimitSketch } from '../support/budgets';
import { createDecider, decisionOf, type DeciderDeps } from '../support/decider';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { descriptor, request } from '../support/requests';
import { definitionsOf } from '../support/rules';

/** Made-up requests of a domain with `charge: together` that meet a counter more than once; test/scenarios/charged-together.txt has the rules. */

jest.setTimeout(60_000);

const START = 1_795_240_800;
const year: LimitSketch = { unit: 'YEAR', requestsPerUnit: 5 };
const long: LimitSketch = { unit: 'YEAR', unitMultiplier: 2, requestsPerUnit: 50 };

const RULES = compileRules([
  {
    domain: 'd',
    rules: definitionsOf([
      { key: 'fixed', limit: { ...year } as Partial<LimitDefinition> },
      { key: 'gcra', limit: { ...year, algorithm: 'gcra' } as Partial<LimitDefinition> },
      {
        key: 'sliding',
        limit: { ...year, algorithm: 'sliding_window' } as Partial<LimitDefinition>,
      },
      { key: 'list', ...budgetOf([{ ...year, algorithm: 'sliding_window' }, long]) },
      { key: 'held', ...budgetOf([year, long], { reserve: {} }) },
      {
        key: 'listed',
        ...budgetOf([long, { ...year, algorithm: 'sliding_window' }], { reserve: {} }),
      },
    ]),
    isChargedTogether: true,
  },
]);

const RESERVING = new Set(['held', 'listed']);
const KEYS = ['fixed', 'gcra', 'sliding', 'list', ...RESERVING];

type Counters = DeciderDeps['counters'];

let server: RedisServer;
let cluster: RedisCluster;
let serial = 0;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedisServer(), startRedisCluster()]);
});
afterAll(async () => {
  await stopRedisCounters();
  await Promise.all([server.stop(), cluster.stop()]);
});

const redis = async (address: RedisServer['address'] | RedisCluster['address']) => {
  const counters = await connectRedisCounters({ address, timeoutMs: 10_000 });
  return counters;
};

const STORES: readonly (readonly [string, () => Counters | Promise<Counters>])[] = [
  ['memory', () => createMemoryCounters({ clock: () => START })],
  ['one Redis', () => redis(server.address)],
  ['a cluster', () => redis(cluster.address)],
];

/** What a descriptor says, and its hits. */
type Text = readonly [string | readonly string[], number?];

interface Asked {
  readonly which: number;
  readonly hits: number;
  readonly id: string | null;
}

/** Hits of one counter that are not held are one ask, which stands where the first of them stood; looks stand alone. */
const joined = (all: readonly Asked[]): readonly Asked[] =>
  all.flatMap((operation, index) => {
    if (operation.id !== null || operation.hits === 0) return [operation];
    const same = ({ which, hits, id }: Asked) =>
      id === null && hits > 0 && which === operation.which;
    if (all.findIndex(same) < index) return [];
    return [{ ...operation, hits: all.filter(same).reduce((sum, { hits }) => sum + hits, 0) }];
  });

/** Two counters of 5, of which a request takes all that it asks for or nothing. */
class Model {
  taken: readonly number[] = [0, 0];
  readonly #open = new Set<string>();

  takes(all: readonly Asked[]): boolean {
    const isOpen = ({ which, id }: Asked) => this.#open.has(`${String(which)} ${String(id)}`);
    const fresh = joined(all).filter((operation) => !isOpen(operation));
    const wanted = [...this.taken];
    for (const { which, hits, id } of fresh) {
      const before = wanted[which] ?? 0;
      if (before + (id === null ? hits : Math.max(1, hits)) > 5) return false;
      wanted[which] = before + hits;
    }
    this.taken = wanted;
    for (const { which, id } of fresh) if (id !== null) this.#open.add(`${String(which)} ${id}`);
    return true;
  }
}

describe.each(STORES)('in %s', (_, start) => {
  let decide: ReturnType<typeof createDecider>;
  beforeAll(async () => {
    const counters = await start();
    decide = createDecider({ rules: { current: RULES }, counters, clock: () => START });
  });

  const decisionFor = async (...texts: readonly Text[]) => {
    const descriptors = texts.map(([one, hits]) => descriptor(one, { hits }));
    const { answers } = await decide(request('d', descriptors));
    return decisionOf(answers[0]);
  };
  const leftOf = async (text: string) => (await decisionFor([text, 0])).statuses[0]?.limitRemaining;

  it('whatever a request asks of two counters, all of it fits and is done, or nothing is', async () => {
    const one = fc.record({
      which: fc.nat(1),
      hits: fc.integer({ min: 0, max: 4 }),
      id: fc.option(fc.constantFrom('a', 'b', 'c', 'd')),
    });
    const requests = fc.array(
      fc.uniqueArray(one, {
        minLength: 1,
        maxLength: 5,
        selector: ({ id, which }) => `${String(which)} ${id ?? String(Math.random())}`,
      }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...KEYS), requests, async (key, all) => {
        const names = [1, 2].map(() => `${key}=n${String((serial += 1))}`);
        const model = new Model();
        for (const said of all) {
          const asked = RESERVING.has(key) ? said : said.map((one) => ({ ...one, id: null }));
          const texts = asked.map(({ which, hits, id }) => {
            const text = String(names[which]);
            return [id === null ? text : [text, `reserve=${id}`], hits] as const;
          });
          const { overallCode } = await decisionFor(...texts);
          expect(overallCode).toBe(model.takes(asked) ? 'OK' : 'OVER_LIMIT');
          const left = [await leftOf(String(names[0])), await leftOf(String(names[1]))];
          expect(left).toEqual(model.taken.map((used) => 5 - used));
        }
      }),
      { numRuns: 60 },
    );
  });
});
