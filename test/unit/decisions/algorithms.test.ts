import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { planBatch } from '../../../src/core/planning/plan';
import { windowsAt } from '../../../src/core/planning/windows';
import type { Rules } from '../../../src/core/rules/rules';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { createDecider } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf, type RuleSketch } from '../../support/rules';

const gcra = { algorithm: 'gcra', unit: 'HOUR', requestsPerUnit: 10 } as const;

const rules: readonly RuleSketch[] = [
  { key: 'gcra', limit: gcra },
  { key: 'sliding', limit: { ...gcra, algorithm: 'sliding_window' } },
  { key: 'guarded', limit: { ...gcra, algorithm: 'fixed_window', chargeDenied: false } },
  { key: 'shadow', limit: gcra, shadowMode: true },
  { key: 'quota', limit: gcra, quotaMode: true },
  { key: 'shared', value: 'a*', limit: gcra, shareThreshold: true },
  { key: 'plain', limit: [10, 'HOUR'] },
  { key: 'long', limit: { unit: 'MINUTE', unitMultiplier: 5, requestsPerUnit: 10 } },
  { key: 'local', limit: { ...gcra, burst: 9 }, onStoreError: 'local' },
  {
    key: 'localPlain',
    limit: { ...gcra, algorithm: 'fixed_window', chargeDenied: false },
    onStoreError: 'local',
  },
  { key: 'allow', limit: { ...gcra, burst: 3 }, onStoreError: 'allow' },
  { key: 'deny', limit: { ...gcra, unitMultiplier: 2 }, onStoreError: 'deny' },
];

interface Setting {
  readonly options?: Partial<DecisionOptions>;
  readonly add?: (batch: CounterBatch) => Promise<CounterReply>;
}

/** Decisions over counters in memory, at a time that stands still. */
function setUp({ options = {}, add }: Setting = {}) {
  const clock = () => 1_795_240_201.5;
  const counters = createMemoryCounters({ clock });
  const batches: CounterBatch[] = [];
  const faults: unknown[] = [];
  const decide = createDecider(
    {
      rules: { current: rulesOf('d', rules) },
      counters: {
        add: (batch) => {
          batches.push(batch);
          return (add ?? counters.add)(batch);
        },
      },
      localCounters: createMemoryCounters({ clock }),
      clock,
      onFault: (error) => faults.push(error),
    },
    { keyPrefix: 'p:', ...options },
  );
  return { batches, faults, decide };
}

const hit = (key: string, hits = 1, value = 'v') =>
  descriptor(`${key}=${value}`, { hits: Math.abs(hits), isNegativeHits: hits < 0 });
const one = (key: string, hits = 1, value = 'v') => request('d', [hit(key, hits, value)]);

const OVER = 'OVER_LIMIT';

/** `code remaining` of every status of every answer. */
const shown = (answers: Awaited<ReturnType<ReturnType<typeof setUp>['decide']>>['answers']) =>
  answers.map((answer) =>
    answer?.kind === 'decision'
      ? answer.statuses
          .map(({ code, limitRemaining }) => `${code} ${String(limitRemaining)}`)
          .join()
      : answer?.kind,
  );

describe.each(['gcra', 'sliding', 'guarded'])('one batch of asks under %s', (key) => {
  it('sends equal asks as one increment, and admits the first that fit', async () => {
    const { decide, batches } = setUp();
    const { answers, batchStats } = await decide(...Array.from({ length: 5 }, () => one(key, 3)));
    expect(batches[0]?.increments).toMatchObject([{ hits: 3, times: 5 }]);
    expect(shown(answers)).toEqual(['OK 7', 'OK 4', 'OK 1', `${OVER} 0`, `${OVER} 0`]);
    expect(
      batchStats.rules.map(({ withinLimit, nearLimit, overLimit }) => [
        withinLimit,
        nearLimit,
        overLimit,
      ]),
    ).toEqual([
      [3, 0, 0],
      [3, 0, 0],
      [3, 1, 0],
      [0, 0, 3],
      [0, 0, 3],
    ]);
  });

  it('keeps other hits, looks and refunds of a counter apart, in order', async () => {
    const { decide, batches } = setUp();
    const { answers } = await decide(...[4, 4, 0, 4, -3, -3, 2].map((hits) => one(key, hits)));
    expect(batches[0]?.increments.map(({ hits, times }) => [hits, times])).toEqual([
      [4, 2],
      [0, 1],
      [4, 1],
      [-3, 1],
      [-3, 1],
      [2, 1],
    ]);
    expect(shown(answers)).toEqual(['OK 6', 'OK 2', 'OK 2', `${OVER} 0`, 'OK 5', 'OK 8', 'OK 6']);
  });

  it('joins equal asks of a counter with those of others in between', async () => {
    const { decide, batches } = setUp();
    await decide(one(key, 1), one('plain'), one(key, 1, 'w'), one(key, 1), one('plain'));
    expect(batches[0]?.increments.map(({ hits, times }) => [hits, times])).toEqual([
      [1, 2],
      [2, 1],
      [1, 1],
    ]);
  });

  it('does not join hits whose sum loses digits, nor those beyond 2^53', async () => {
    const { decide, batches } = setUp();
    const exact = request('d', [descriptor(`${key}=v`, { hits: 2n ** 60n })]);
    const { answers, batchStats } = await decide(
      one(key, 2 ** 52),
      one(key, 2 ** 52),
      exact,
      exact,
    );
    expect(batches[0]?.increments).toHaveLength(4);
    expect(shown(answers)).toEqual([`${OVER} 0`, `${OVER} 0`, `${OVER} 0`, `${OVER} 0`]);
    expect(batchStats.rules.reduce((sum, { overLimit }) => sum + overLimit, 0)).toBe(
      2 ** 53 + 2 ** 61,
    );
  });
});

it('keys end in the period and the algorithm, or in the window', async () => {
  const { decide, batches } = setUp();
  await decide(one('gcra'), one('sliding'), one('guarded'), one('long'), one('deny'));
  expect(batches[0]?.increments.map(({ key, ttlSeconds }) => [key, ttlSeconds])).toEqual([
    ['p:d_gcra_v_3600s~g1', 3600],
    ['p:d_sliding_v_3600s~l1', 3600],
    ['p:d_guarded_v_1795237200', 3600],
    ['p:d_long_v_1795240200', 300],
    ['p:d_deny_v_7200s~g1', 7200],
  ]);
});

it('shadow_mode reports OK, counts, and charges nothing that enforcement would refuse', async () => {
  const { decide } = setUp();
  const { answers, batchStats } = await decide(
    one('shadow', 8),
    one('shadow', 5),
    one('shadow', 2),
  );
  expect(shown(answers)).toEqual(['OK 2', 'OK 0', 'OK 0']);
  expect(batchStats.rules.map(({ shadowMode, overLimit }) => [shadowMode, overLimit])).toEqual([
    [0, 0],
    [5, 5],
    [0, 0],
  ]);
});

it('quota_mode bears on the overall code alone', async () => {
  const { decide } = setUp();
  const both = request('d', [hit('quota', 11), hit('quota', 1, 'w')]);
  const { answers } = await decide(both, request('d', [hit('quota', 11)]));
  expect(answers).toMatchObject([
    { overallCode: 'OK', statuses: [{ code: OVER }, { code: 'OK' }] },
    { overallCode: OVER },
  ]);
});

it('share_threshold puts the pattern into the key', async () => {
  const { decide, batches } = setUp();
  const { answers } = await decide(one('shared', 9, 'ab'), one('shared', 9, 'ac'));
  expect(batches[0]?.increments).toMatchObject([{ key: 'p:d_shared_a*_3600s~g1', times: 2 }]);
  expect(shown(answers)).toEqual(['OK 1', `${OVER} 0`]);
});

describe('holding back', () => {
  const options = { holdBack: true };

  it('leaves the other counters of a request alone when one ask is refused', async () => {
    const { decide } = setUp({ options });
    const first = request('d', [hit('gcra', 9), hit('sliding', 2), hit('plain', 2)]);
    const second = request('d', [hit('gcra', 1), hit('sliding', 9), hit('plain', 3)]);
    const { answers, batchStats } = await decide(first, second, one('sliding', 0), one('plain', 0));
    expect(shown(answers)).toEqual(['OK 1,OK 8,OK 8', 'OK 1,OVER_LIMIT 0,OK 8', 'OK 8', 'OK 8']);
    expect(
      batchStats.rules.map(({ nearLimit, overLimit }) => [nearLimit, overLimit]).slice(3, 6),
    ).toEqual([
      [0, 0],
      [0, 9],
      [0, 0],
    ]);
  });
});

describe('when the store fails', () => {
  const away = new StoreError('store_unavailable', 'redis is away');
  const add = () => Promise.reject(away);

  it('on_store_error: local counts here, with the share of an instance of limit and burst', async () => {
    const { decide } = setUp({ add, options: { failureReplicas: 3 } });
    const descriptorHits = Array.from({ length: 4 }, () => one('local'));
    expect(shown((await decide(...descriptorHits)).answers)).toEqual([
      'OK 2',
      'OK 1',
      'OK 0',
      `${OVER} 0`,
    ]);
    const { answers } = await decide(one('local'));
    // A third of 10 per hour, rounded down: the next hit fits after twenty minutes.
    expect(answers).toMatchObject([{ statuses: [{ secondsUntilReset: 1_200 }] }]);
    expect(shown((await decide(one('localPlain', 4), one('localPlain', 3))).answers)).toEqual([
      `${OVER} 0`,
      'OK 0',
    ]);
  });

  it('on_store_error: local holds back too', async () => {
    const { decide } = setUp({ add, options: { holdBack: true } });
    const { answers } = await decide(request('d', [hit('local', 10), hit('localPlain', 2)]));
    expect(shown(answers)).toEqual([`${OVER} 0,OK 10`]);
  });

  it('allow says that all fits, deny that nothing does', async () => {
    const { decide } = setUp({ add });
    const { answers } = await decide(one('allow'), one('deny'));
    expect(shown(answers)).toEqual(['OK 3', `${OVER} 0`]);
    expect(answers).toMatchObject([
      { statuses: [{ secondsUntilReset: 599 }] },
      { statuses: [{ secondsUntilReset: 599 }] },
    ]);
  });

  it('fails alone what failed alone', async () => {
    const full = new StoreError('store_unavailable', 'not ours', { fault: 'key' });
    const { decide } = setUp({
      add: (batch) =>
        Promise.resolve({
          after: [0, 0],
          held: undefined,
          failures: new Map([[0, full]]),
          states: [
            undefined,
            ...batch.increments.slice(1).map(() => ({ used: 0, previous: 0, elapsed: 0 })),
          ],
        }),
    });
    const { answers } = await decide(one('gcra'), one('sliding'));
    expect(shown(answers)).toEqual(['failure', 'OK 9']);
  });
});

it('hits that a local cache refuses are counted as such', async () => {
  const { decide } = setUp({
    add: () =>
      Promise.resolve({
        after: [0],
        held: undefined,
        failures: undefined,
        knownOverLimit: [true],
        states: [{ used: 10 * 36_000_000, previous: 0, elapsed: 0 }],
      }),
  });
  const { answers, batchStats } = await decide(one('gcra'));
  expect(shown(answers)).toEqual([`${OVER} 0`]);
  expect(batchStats.rules).toMatchObject([{ overLimit: 1, overLimitWithLocalCache: 1 }]);
});

it('a store that does not know algorithms is a fault, never a count', async () => {
  const add = () => Promise.resolve({ after: [1], held: undefined, failures: undefined });
  const { decide, faults } = setUp({ add });
  expect((await decide(one('gcra'))).answers).toMatchObject([
    { kind: 'failure', code: 'internal' },
  ]);
  expect(String(faults[0])).toContain('does not support the algorithm of the rule d.gcra');
});

it.each([
  ['gcra', { unit: 'MINUTE', algorithm: 'gcra' }],
  ['sliding windows', { unit: 'MINUTE', algorithm: 'sliding_window' }],
  [
    'calendar periods',
    { unit: 'MONTH', calendar: { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } },
  ],
] as const)('keeps counters of %s of two domains apart whose keys read the same', (_, more) => {
  const limit = { requestsPerUnit: 5, ...more };
  const [one, other] = [
    rulesOf('a', [{ key: 'k', limit }]).domains,
    rulesOf('a_k', [{ key: 'x', limit }]).domains,
  ];
  const rules: Rules = {
    ...{
      limitCount: 2,
      hasLimitsFrom: false,
      hasTogether: false,
      hasBudgets: false,
      places: new Map(),
      secrets: undefined,
    },
    domains: new Map([...one, ...other]),
  };
  const options = { keyPrefix: '', ttlJitterSeconds: 0, holdBack: false };
  const requests = [request('a', ['k=x_victim']), request('a_k', ['x=victim'])];
  const { increments } = planBatch(rules, requests, windowsAt(1_795_240_200), options, () => 0);
  expect(new Set(increments.map(({ key }) => key)).size).toBe(2);
});
