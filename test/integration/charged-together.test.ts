import fc from 'fast-check';
import type { LimitDefinition } from '../../src/core/rules/definition';
import { compileRules } from '../../src/core/rules/compile';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { budgetOf, inFlight, type LimitSketch } from '../support/budgets';
import { createDecider, decisionOf, type DeciderDeps } from '../support/decider';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { descriptor, request } from '../support/requests';
import { definitionsOf } from '../support/rules';

/** Requests of a domain with `charge: together` that meet one counter more than once. */

jest.setTimeout(60_000);

const START = 1_795_240_800;
const year: LimitSketch = { unit: 'YEAR', requestsPerUnit: 5 };
const day: LimitSketch = { unit: 'DAY', requestsPerUnit: 50 };
const long: LimitSketch = { ...day, unit: 'YEAR', unitMultiplier: 2 };

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
      { key: 'list', ...budgetOf([{ ...year, algorithm: 'sliding_window' }, day]) },
      { key: 'held', ...budgetOf([year, long], { reserve: {} }) },
      {
        key: 'listed',
        ...budgetOf([long, { ...year, algorithm: 'sliding_window' }], { reserve: {} }),
      },
      { key: 'slots', ...budgetOf([inFlight(2), day]) },
      { key: 'blocked', ...budgetOf([{ ...year, block: { after: 2, forMs: 600_000 } }, day]) },
      {
        key: 'path',
        value: '*',
        shareThreshold: true,
        limit: { ...year } as Partial<LimitDefinition>,
      },
      { key: 'other', limit: [100, 'YEAR'] },
    ]),
    isChargedTogether: true,
  },
]);

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
  const counters = runRedisCounters({ address, timeoutMs: 10_000 });
  await counters.untilConnected();
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

  const ask = async (...texts: readonly Text[]) => {
    const descriptors = texts.map(([one, hits]) => descriptor(one, { hits }));
    const { answers } = await decide(request('d', descriptors));
    const decision = decisionOf(answers[0]);
    return {
      code: decision.overallCode,
      left: decision.statuses.map(({ limitRemaining }) => limitRemaining),
    };
  };
  const codeOf = async (...texts: readonly Text[]) => (await ask(...texts)).code;
  const leftOf = async (text: string) => (await ask([text, 0])).left[0];
  const name = (key: string): string => `${key}=n${String((serial += 1))}`;

  it.each(['fixed', 'gcra', 'sliding', 'list', 'blocked'])(
    'hits of one counter of %s are one ask, which is charged whole or not at all',
    async (key) => {
      const [own, other] = [name(key), name('other')];
      expect(await codeOf([own, 2], [own, 2], [other])).toBe('OK');
      expect([await leftOf(own), await leftOf(other)]).toEqual([1, 99]);
      expect(await codeOf([own, 1], [own, 1], [other])).toBe('OVER_LIMIT');
      expect(await codeOf([other], [own, 1], [other], [own, 1])).toBe('OVER_LIMIT');
      expect([await leftOf(own), await leftOf(other)]).toEqual([key === 'blocked' ? 0 : 1, 99]);
      if (key === 'blocked') return;
      expect(await codeOf([own, 1], [own, 0], [other])).toBe('OK');
      expect([await leftOf(own), await leftOf(other)]).toEqual([0, 98]);
    },
  );

  it('values that share a threshold are one counter', async () => {
    const other = name('other');
    const paths = ['path=a', 'path=b', 'path=c'] as const;
    expect(await codeOf([paths[0], 2], [paths[1], 2], [paths[2], 2], [other])).toBe('OVER_LIMIT');
    expect([await leftOf('path=x'), await leftOf(other)]).toEqual([5, 100]);
    expect(await codeOf([paths[0], 2], [paths[1], 2], [paths[2], 1], [other])).toBe('OK');
    expect([await leftOf('path=x'), await leftOf(other)]).toEqual([0, 99]);
  });

  it('two reservations of one counter are both held or none is', async () => {
    const [own, other] = [name('held'), name('other')];
    const two = (hits: number) =>
      codeOf([[own, 'reserve=a'], hits], [[own, 'reserve=b'], hits], [other]);
    expect(await two(3)).toBe('OVER_LIMIT');
    expect([await leftOf(own), await leftOf(other)]).toEqual([5, 100]);
    expect(await two(2)).toBe('OK');
    expect([await leftOf(own), await leftOf(other)]).toEqual([1, 99]);
    await ask([[own, 'settle=a'], 0], [[own, 'settle=b'], 1]);
    expect(await leftOf(own)).toBe(4);
  });

  it('slots are taken for all reservations of a request or for none', async () => {
    const [own, other] = [name('slots'), name('other')];
    const take = (...ids: readonly string[]) =>
      codeOf([other], ...ids.map((id) => [[own, `reserve=${id}`], 0] as const));
    expect(await take('a', 'b', 'c')).toBe('OVER_LIMIT');
    expect(await take('a')).toBe('OK');
    expect(await take('b', 'c')).toBe('OVER_LIMIT');
    expect(await take('b')).toBe('OK');
    expect(await take('c')).toBe('OVER_LIMIT');
    await ask([[own, 'settle=a'], 0], [[own, 'settle=b'], 0]);
    expect(await take('c', 'd')).toBe('OK');
    expect(await leftOf(other)).toBe(97);
  });

  it('a reservation beside hits of the same counter is held with them or not at all', async () => {
    const own = name('held');
    expect(await codeOf([own, 3], [[own, 'reserve=a'], 3])).toBe('OVER_LIMIT');
    expect(await codeOf([[own, 'reserve=a'], 3], [own, 3])).toBe('OVER_LIMIT');
    expect(await leftOf(own)).toBe(5);
    expect(await codeOf([own, 2], [[own, 'reserve=a'], 3])).toBe('OK');
    expect(await leftOf(own)).toBe(0);
  });

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
      fc.asyncProperty(fc.constantFrom('held', 'listed'), requests, async (key, all) => {
        const names = [name(key), name(key)];
        const model = new Model();
        for (const asked of all) {
          const texts = asked.map(({ which, hits, id }) => {
            const text = String(names[which]);
            return [id === null ? text : [text, `reserve=${id}`], hits] as const;
          });
          expect(await codeOf(...texts)).toBe(model.takes(asked) ? 'OK' : 'OVER_LIMIT');
          const left = [await leftOf(String(names[0])), await leftOf(String(names[1]))];
          expect(left).toEqual(model.taken.map((used) => 5 - used));
        }
      }),
      { numRuns: 60 },
    );
  });
});
