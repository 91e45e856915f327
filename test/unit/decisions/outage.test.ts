import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecider, decisionOf, type DeciderDeps } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

/** What rules answer while the store is away: test/scenarios/outages*.txt. */
const clock = () => 1_795_240_201.5;
const rules = rulesOf('shop', [
  { key: 'plain', limit: [4, 'HOUR'] },
  { key: 'allow', limit: [4, 'HOUR'], onStoreError: 'allow' },
  { key: 'deny', limit: [4, 'HOUR'], onStoreError: 'deny' },
  { key: 'local', limit: [4, 'HOUR'], onStoreError: 'local' },
  { key: 'dark', limit: [4, 'HOUR'], shadowMode: true },
]);

const limit = { unit: 'HOUR', requestsPerUnit: 10 } as const;
const gcraRules = rulesOf('d', [
  { key: 'gcra', limit: { ...limit, algorithm: 'gcra' } },
  { key: 'sliding', limit: { ...limit, algorithm: 'sliding_window' } },
]);

const away = new StoreError('store_unavailable', 'redis 10.0.0.5:6379 is away');
const AWAY = 'the counter store cannot be reached';

function setUp(
  add: (batch: CounterBatch) => Promise<CounterReply>,
  more: Partial<DeciderDeps> = { localCounters: createMemoryCounters({ clock }) },
) {
  const decide = createDecider({ rules: { current: rules }, counters: { add }, clock, ...more });
  return async (...descriptors: readonly string[]) => {
    const { answers, batchStats } = await decide(request('shop', descriptors));
    return { answer: answers[0], batchStats };
  };
}

const failing =
  (error: StoreError = away) =>
  () =>
    Promise.reject(error);

describe('while the store is away', () => {
  it('without counters of its own `local` is an error', async () => {
    const { answer } = await setUp(failing(), {})('local=1');
    expect(answer).toMatchObject({ kind: 'failure', message: AWAY });
  });

  it.each([
    [away, {}],
    [new StoreError('store_timeout', 'slow'), { storeTimeouts: 1 }],
    [new StoreError('store_unavailable', 'open', { fault: 'breaker' }), { breakerOpen: 1 }],
  ])('%s is counted by its kind', async (error, kinds) => {
    const { batchStats } = await setUp(failing(error))('plain=1');
    const none = { storeTimeouts: 0, breakerOpen: 0, answeredLocally: 0 };
    expect(batchStats).toMatchObject({ storeErrors: 1, ...none, ...kinds, outage: error.message });
    const { batchStats: answered } = await setUp(failing(error))('local=1', 'allow=1');
    expect(answered).toMatchObject({ storeErrors: 1, ...none, ...kinds, answeredLocally: 1 });
    expect(answered.outage).toBeUndefined();
  });
});

it('only what one node failed is made up for', async () => {
  const add = ({ increments }: CounterBatch) =>
    Promise.resolve({
      after: increments.map((_, index) => (index === 0 ? 2 : 0)),
      held: undefined,
      failures: new Map([[1, away]]),
    });
  const onStoreError = jest.fn();
  const hit = setUp(add, { onStoreError, localCounters: createMemoryCounters({ clock }) });
  const { answer } = await hit('plain=1', 'local=1');
  expect(onStoreError.mock.calls).toEqual([[away]]);
  expect(answer).toMatchObject({ statuses: [{ limitRemaining: 2 }, { limitRemaining: 3 }] });
  expect((await hit('plain=1')).batchStats.storeErrors).toBe(0);
});

it('a rule that denies is honoured beside a key that no store takes', async () => {
  const badKey = new StoreError('store_unavailable', 'a blank', { fault: 'key' });
  const mixed = setUp(({ increments }) =>
    Promise.resolve({
      after: [0, 0],
      held: undefined,
      failures: new Map(increments.map((_, at) => [at, at === 0 ? away : badKey])),
    }),
  );
  expect((await mixed('deny=1', 'plain=1')).answer).toMatchObject({ overallCode: 'OVER_LIMIT' });
  const { answer, batchStats } = await mixed('allow=1', 'plain=1');
  expect(answer).toMatchObject({ message: 'the counter store cannot count under this key' });
  expect(batchStats.outage).toBeUndefined();
});

it('callers hear what went wrong without the address and the words of the store, operators all of it', async () => {
  const address = 'redis 10.0.0.5:6379';
  const texts: unknown[] = [];
  const operators: string[] = [];
  for (const error of [
    new StoreError('store_timeout', `${address} did not answer within 10 ms`),
    new StoreError('store_unavailable', `${address} is not available`),
    new StoreError('store_unavailable', `${address} is not available`, { fault: 'node' }),
    new StoreError('store_unavailable', `${address} answered: OOM`, { fault: 'answer' }),
    new StoreError('store_unavailable', `${address} answered: WRONGTYPE`, { fault: 'key' }),
    new StoreError('store_unavailable', `not asked: ${address}`, { fault: 'breaker' }),
  ]) {
    const onStoreError = ({ message }: StoreError): number => operators.push(message);
    const { answer } = await setUp(failing(error), { onStoreError })('plain=1');
    texts.push(answer?.kind === 'failure' && answer.message);
  }
  expect(operators.every((message) => message.includes(address))).toBe(true);
  expect(texts).toEqual([
    'the counter store did not answer in time',
    'the counter store cannot be reached',
    'the counter store cannot be reached',
    'the counter store answered with an error',
    'the counter store cannot count under this key',
    'circuit breaker open, counter store not called',
  ]);
});

it('a failure of the counts of this process is an error', async () => {
  const message = 'the memory counters are full';
  const broken = new StoreError('store_unavailable', message, { forCaller: message });
  const partly = { after: [0], held: undefined, failures: new Map([[0, broken]]) };
  for (const add of [failing(broken), () => Promise.resolve(partly)]) {
    const { answer } = await setUp(failing(), { localCounters: { add } })('local=1');
    expect(answer).toMatchObject({ message });
  }
});

describe('a reply with counters known to be over', () => {
  const known = ({ increments }: CounterBatch): Promise<CounterReply> =>
    Promise.resolve({
      after: increments.map(() => 0),
      held: undefined,
      failures: undefined,
      knownOverLimit: increments.map(() => true),
    });

  it('refuses, and counts the hits as over by the local cache', async () => {
    const { answer, batchStats } = await setUp(known)('plain=1', 'dark=1');
    expect(answer).toMatchObject({
      overallCode: 'OVER_LIMIT',
      statuses: [{ code: 'OVER_LIMIT', limitRemaining: 0 }, { code: 'OK' }],
    });
    const counted = { totalHits: 1, overLimit: 1, overLimitWithLocalCache: 1, nearLimit: 0 };
    expect(batchStats.rules).toMatchObject([
      { ...counted, shadowMode: 0 },
      { ...counted, shadowMode: 1 },
    ]);
  });
});

describe('of a rule of an algorithm', () => {
  const one = (key: string) => request('d', [`${key}=v`]);

  it('only what one counter failed fails', async () => {
    const full = new StoreError('store_unavailable', 'not ours', { fault: 'key' });
    const decide = createDecider({
      rules: { current: gcraRules },
      counters: {
        add: () =>
          Promise.resolve({
            after: [0, 0],
            held: undefined,
            failures: new Map([[0, full]]),
            states: [undefined, { used: 0, previous: 0, elapsed: 0 }],
          }),
      },
      clock,
    });
    expect((await decide(one('gcra'), one('sliding'))).answers).toMatchObject([
      { kind: 'failure' },
      { statuses: [{ code: 'OK', limitRemaining: 9 }] },
    ]);
  });

  it('a store that does not know it is a fault, never a count', async () => {
    const faults: unknown[] = [];
    const decide = createDecider({
      rules: { current: gcraRules },
      counters: {
        add: () => Promise.resolve({ after: [1], held: undefined, failures: undefined }),
      },
      clock,
      onFault: (error) => faults.push(error),
    });
    expect((await decide(one('gcra'))).answers).toMatchObject([
      { kind: 'failure', code: 'internal' },
    ]);
    expect(String(faults[0])).toContain('does not support the algorithm of the rule d.gcra');
  });
});

describe('with a store that reads before it adds', () => {
  const echo = ({ increments }: CounterBatch): Promise<CounterReply> =>
    Promise.resolve({
      after: increments.map(({ hits }) => Number(hits)),
      held: undefined,
      failures: undefined,
    });

  it('descriptors of one request see no hits of each other, those of another request they see', async () => {
    const decide = createDecider(
      { rules: { current: rules }, counters: { add: echo }, clock },
      { readFirst: true },
    );
    const twice = request('shop', [descriptor('plain=1'), descriptor('plain=1')]);
    const { answers } = await decide(twice, twice);
    const left = answers.map((one) =>
      decisionOf(one).statuses.map((status) => status.limitRemaining),
    );
    expect(left).toEqual([
      [3, 3],
      [1, 1],
    ]);
  });
});
