import { StoreError } from '../../../../src/core/errors';
import type { BatchStats } from '../../../../src/core/decision/figures';
import type {
  Responder,
  CounterReply,
  Counters,
  Increment,
  PendingRequest,
} from '../../../../src/core/ports';
import { createMemoryCounters } from '../../../../src/counters/memory/create-memory-counters';
import { createDecideBatch } from '../../../../src/decisions/decide-batch';
import { createLiveView } from '../../../../src/stats/dashboard/create-live-view';
import { createRegistry } from '../../../../src/stats/registry';
import { budgetOf, inFlight } from '../../../support/budgets';
import { PLAIN_DECISIONS } from '../../../support/decider';
import { rulesOf } from '../../../support/rules';

const NOW = 1_000_020;
const responder: Responder = { answer: () => true };

function setUp(sketches: Parameters<typeof rulesOf>[1] = [{ key: 'user', limit: [2, 'MINUTE'] }]) {
  const rules = { current: rulesOf('shop', sketches) };
  const registry = createRegistry();
  let nowMs = 0;
  const clock = () => NOW;
  const live = createLiveView(
    { rules, registry, clock, monotonicMs: () => nowMs, random: () => 0 },
    { keyPrefix: '' },
  );
  const counters = createMemoryCounters({ clock });
  const decide = live.watchDecisions(
    createDecideBatch(
      {
        rules,
        counters: live.watchCounters(counters, 'store'),
        clock,
        random: () => 0,
        onFault: (error) => {
          throw error;
        },
      },
      { ...PLAIN_DECISIONS, ttlJitterSeconds: 1 },
    ),
  );
  const ask = async (...values: string[]): Promise<BatchStats> =>
    decide(
      values.map((value, callId): PendingRequest => {
        const entries = [{ key: 'user', value }];
        const descriptor = { entries, limit: undefined, hits: undefined, isNegativeHits: false };
        return {
          request: { domain: 'shop', descriptors: [descriptor], hitsAddend: 0 },
          responder,
          callId,
        };
      }),
    );
  const pass = (ms: number) => (nowMs += ms);
  return { live, ask, pass, rules, registry };
}

describe('the view of what happens now', () => {
  it('tells counters of a budget apart, with all their limits, what they hold and how long they are blocked', async () => {
    const { live, ask, pass } = setUp([
      {
        key: 'user',
        ...budgetOf(
          [
            { unit: 'DAY', requestsPerUnit: 50_000, algorithm: 'gcra', burst: 4 },
            { unit: 'MINUTE', requestsPerUnit: 3 },
            inFlight(2),
          ],
          { reserve: {}, block: { after: 1, forMs: 90_000 } },
        ),
      },
    ]);
    live.start();
    await ask('ann', 'ann');
    await ask('bob', 'bob', 'bob');
    await ask('bob');
    pass(1_000);
    const [bob, ann] = live.take().hot;
    expect(bob).toMatchObject({
      entries: [['user', 'bob']],
      isOver: true,
      budget: {
        limits: [
          { used: 3, of: 4, words: 'at once, 50,000 per day' },
          { used: 3, of: 3, words: 'per minute' },
          { used: 0, of: 2, words: 'in flight' },
        ],
        open: 0,
        held: 0,
        blockedSeconds: 90,
      },
    });
    expect(ann).toMatchObject({
      entries: [['user', 'ann']],
      isOver: false,
      budget: { limits: [{ used: 2 }, { used: 2 }, { used: 0 }] },
    });
    expect(ann?.budget).not.toHaveProperty('blockedSeconds');
  });

  it('shows what was decided since the last look, per second', async () => {
    const { live, ask, pass, registry } = setUp();
    live.start();
    await ask('ann', 'ann', 'ann', 'bob');
    await ask('ann', 'ann');
    registry.time('ratelimit_server.ShouldRateLimit.response_time', 4, 10);
    pass(2_000);
    const figures = live.take();
    expect(figures).toMatchObject({
      requests: 3,
      batch: { mean: 3, largest: 4 },
      hits: [3, 0.5, 1.5, 0],
      rules: [[0, 3, 0.5, 1.5, 0]],
      domains: [[0, 3, 0.5, 1.5, 0]],
      store: { p50: 0, p99: 0 },
    });
    expect(figures.response?.p99).toBeCloseTo(4, 1);
    expect(figures.hot).toMatchObject([
      {
        domain: 'shop',
        entries: [['user', 'ann']],
        rule: 0,
        perSecond: 2.5,
        value: 5,
        isOver: true,
        limit: 2,
        per: 'minute',
        resetsIn: 60 - (NOW % 60),
      },
      { entries: [['user', 'bob']], value: 1, isOver: false },
    ]);
    pass(1_000);
    expect(live.take()).toMatchObject({ requests: 0, batch: undefined, rules: [] });
  });

  it('remembers nothing while nobody looks, and hands the counters and decisions through', async () => {
    const { live, ask, pass } = setUp();
    await ask('ann');
    live.start();
    pass(1_000);
    expect(live.take()).toMatchObject({ requests: 0, hot: [], rules: [], store: undefined });
    await ask('ann');
    live.stop();
    await ask('ann');
    live.start();
    pass(1_000);
    expect(live.take()).toMatchObject({ requests: 0, hot: [], rules: [] });
  });

  it('gives what it watches the very same promises while nobody looks', () => {
    const { live } = setUp();
    const reply = Promise.resolve({ after: [] } as unknown as CounterReply);
    const add: Counters['add'] = () => reply;
    const batch = { increments: [], groupEnds: undefined, nowSeconds: NOW };
    expect(live.watchCounters({ add }, 'store').add(batch)).toBe(reply);
    const batchStats = Promise.resolve({} as BatchStats);
    expect(live.watchDecisions(() => batchStats)([])).toBe(batchStats);
  });

  it('times a store that fails too, and passes its error on', async () => {
    const { live, pass } = setUp();
    live.start();
    const away = new Error('away');
    const counters = live.watchCounters(
      {
        add() {
          pass(500);
          return Promise.reject(away);
        },
      },
      'store',
    );
    const batch = { increments: [], groupEnds: undefined, nowSeconds: NOW };
    await expect(counters.add(batch)).rejects.toBe(away);
    expect(live.take().store?.p99).toBeCloseTo(500, -1);
  });

  it('times no batch that the store never answered: refused by the breaker, without a connection, known to the cache', async () => {
    const { live } = setUp();
    live.start();
    const refusal = new StoreError('store_unavailable', 'away', { fault: 'breaker' });
    const unreachable = new StoreError('store_unavailable', 'no connection');
    const nodeAway = new StoreError('store_unavailable', 'gone', { fault: 'node' });
    const increments = [{ key: 'a', hits: 1 }] as unknown as readonly Increment[];
    const batch = { increments, groupEnds: undefined, nowSeconds: NOW };
    const replies: (() => Promise<CounterReply>)[] = [
      () => Promise.reject(refusal),
      () => Promise.reject(unreachable),
      () => Promise.resolve({ after: [0], held: undefined, failures: new Map([[0, nodeAway]]) }),
      () => Promise.resolve({ after: [0], held: undefined, failures: new Map([[0, refusal]]) }),
      () =>
        Promise.resolve({
          after: [0],
          held: undefined,
          failures: undefined,
          knownOverLimit: [true],
        }),
      () =>
        Promise.resolve({
          after: [1],
          held: undefined,
          failures: new Map(),
          leased: [true],
        }),
    ];
    for (const add of replies)
      await Promise.resolve(live.watchCounters({ add }, 'store').add(batch)).catch(() => undefined);
    expect(live.take().store).toBeUndefined();
    const other = new StoreError('store_timeout', 'late', { fault: 'node' });
    const failures = new Map([[0, other]]);
    const add = () => Promise.resolve({ after: [0], held: undefined, failures });
    await live.watchCounters({ add }, 'store').add(batch);
    expect(live.take().store).toEqual({ p50: 0, p99: 0 });
  });

  it('shows descriptors that met no rule only while somebody looks', async () => {
    const { live, ask, pass, rules } = setUp();
    rules.current = rulesOf('shop', [{ key: 'path', limit: [9, 'DAY'] }]);
    await ask('ann');
    live.start();
    await ask('ann', 'bob');
    pass(1_000);
    expect(live.take().unmatched).toMatchObject([
      { domain: 'shop', keys: ['user'], example: ['ann'], perSecond: 2, total: 2 },
    ]);
    live.stop();
    live.start();
    expect(live.take().unmatched).toEqual([]);
  });

  it('follows a reload with another tree', () => {
    const { live, rules } = setUp();
    live.start();
    const before = live.tree;
    expect(live.tree).toBe(before);
    rules.current = rulesOf('shop', [{ key: 'path', limit: [9, 'DAY'] }]);
    expect(live.tree?.domains[0]?.rules[0]?.key).toBe('path');
  });

  it('shows hot keys with the rule and the limit that are in force after a reload', async () => {
    const { live, ask, pass, rules } = setUp();
    live.start();
    await ask('ann', 'ann');
    rules.current = rulesOf('shop', [
      { key: 'path', limit: [9, 'DAY'] },
      { key: 'user', limit: [50, 'MINUTE'] },
    ]);
    pass(1_000);
    live.take();
    await ask('ann');
    pass(1_000);
    expect(live.take().hot).toMatchObject([{ rule: 1, limit: 50, value: 3 }]);
  });
});
