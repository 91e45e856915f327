import { StoreError } from '../../../src/core/errors';
import type { OnStoreError } from '../../../src/core/rules/definition';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecider, decisionOf } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

const NOW = 1_795_240_201.5;
const policies: readonly OnStoreError[] = ['error', 'allow', 'deny', 'local'];
const rules = rulesOf('shop', [
  { key: 'plain', limit: [4, 'HOUR'] },
  ...policies.map((onStoreError) => ({
    key: onStoreError,
    limit: [4, 'HOUR'] as const,
    onStoreError,
  })),
  { key: 'dark', limit: [4, 'HOUR'], shadowMode: true, onStoreError: 'deny' },
  { key: 'none', limit: [0, 'HOUR'], onStoreError: 'local' },
]);

const away = new StoreError('store_unavailable', 'redis 10.0.0.5:6379 is away');
const AWAY = 'the counter store cannot be reached';

function setUp(
  add: (batch: CounterBatch) => Promise<CounterReply>,
  options: Partial<DecisionOptions> = {},
  hasLocal = true,
  current = rules,
  onStoreError: (error: StoreError) => void = () => undefined,
) {
  const local = createMemoryCounters({ clock: () => NOW });
  const decide = createDecider(
    {
      rules: { current },
      counters: { add },
      onStoreError,
      ...(hasLocal ? { localCounters: local } : {}),
      clock: () => NOW,
    },
    options,
  );
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
  it.each([
    ['error', { kind: 'failure', code: 'store_unavailable', message: AWAY }],
    ['allow', { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 4 }] }],
    ['deny', { overallCode: 'OVER_LIMIT', statuses: [{ code: 'OVER_LIMIT', limitRemaining: 0 }] }],
    ['local', { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 3 }] }],
    ['dark', { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 0 }] }],
  ])('a rule with on_store_error %s answers so', async (key, expected) => {
    const { answer } = await setUp(failing())(`${key}=1`);
    expect(answer).toMatchObject(expected);
  });

  it.each(policies)('a rule that says nothing does what the setting says: %s', async (policy) => {
    const hit = setUp(failing(), { onStoreError: policy });
    const { answer: own } = await hit(`${policy}=1`);
    const { answer: byDefault } = await hit('plain=1');
    const shown = (answer: typeof own) => ({ ...answer, message: undefined });
    expect(shown(byDefault)).toEqual(shown(own));
  });

  it('one descriptor whose answer is an error fails the request', async () => {
    const { answer, batchStats } = await setUp(failing())('allow=1', 'error=1');
    expect(answer).toMatchObject({ kind: 'failure' });
    expect(batchStats).toMatchObject({ storeErrors: 1, answeredLocally: 0 });
    expect(batchStats.rules.map(({ totalHits, withinLimit }) => [totalHits, withinLimit])).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  it.each([
    [1, 4],
    [2, 2],
    [3, 1],
    [9, 1],
  ])('%d instances let through %d of 4 each', async (failureReplicas, limit) => {
    const hit = setUp(failing(), { failureReplicas });
    const codes: unknown[] = [];
    for (let call = 0; call < 6; call += 1) {
      const { answer } = await hit('local=1');
      codes.push(answer?.kind === 'decision' && answer.overallCode);
      if (call === 0)
        expect(answer).toMatchObject({ statuses: [{ currentLimit: { requestsPerUnit: 4 } }] });
    }
    expect(codes.filter((code) => code === 'OK')).toHaveLength(limit);
  });

  it('a limit of 0 lets nothing through', async () => {
    const { answer } = await setUp(failing())('none=1');
    expect(answer).toMatchObject({ overallCode: 'OVER_LIMIT' });
  });

  it('equal descriptors share a count', async () => {
    const { answer } = await setUp(failing())('local=1', 'local=1');
    expect(answer).toMatchObject({ statuses: [{ limitRemaining: 3 }, { limitRemaining: 2 }] });
  });

  it('counters of a request are held back together', async () => {
    const hit = setUp(failing(), { holdBack: true, onStoreError: 'local' });
    for (let call = 0; call < 4; call += 1) await hit('local=1');
    const { answer } = await hit('plain=1', 'local=1');
    expect(answer).toMatchObject({
      statuses: [{ limitRemaining: 4 }, { code: 'OVER_LIMIT' }],
    });
  });

  it('without counters of its own `local` is an error', async () => {
    const { answer } = await setUp(failing(), {}, false)('local=1');
    expect(answer).toMatchObject({ kind: 'failure', message: AWAY });
  });

  it('a key that no store takes is an error under every rule', async () => {
    const error = new StoreError('store_unavailable', 'too long', {
      fault: 'key',
      forCaller: 'too long',
    });
    for (const policy of policies) {
      const { answer, batchStats } = await setUp(failing(error))(`${policy}=1`);
      expect(answer).toMatchObject({ kind: 'failure', message: 'too long' });
      expect(batchStats.outage).toBeUndefined();
    }
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
  const hit = setUp(add);
  const { answer } = await hit('plain=1', 'local=1');
  expect(answer).toMatchObject({ statuses: [{ limitRemaining: 2 }, { limitRemaining: 3 }] });
  expect((await hit('plain=1')).batchStats.storeErrors).toBe(0);
});

describe('a request with a counter that failed and another one that is known', () => {
  const quotas = rulesOf('shop', [
    { key: 'plain', limit: [4, 'HOUR'], metadata: { of: 'plain' } },
    { key: 'dark', limit: [4, 'HOUR'], shadowMode: true },
    { key: 'quota', limit: [4, 'HOUR'], quotaMode: true },
  ]);
  const badKey = new StoreError('store_unavailable', 'a blank', { fault: 'key' });
  /** Values say what the store knows of a counter: a count, or that it failed. */
  const add = ({ increments }: CounterBatch): Promise<CounterReply> => {
    const values = increments.map(({ key }) => key.split('_')[2] as string);
    return Promise.resolve({
      after: values.map((value) => (value.startsWith('bad') ? 0 : Number(value))),
      held: undefined,
      failures: new Map(
        values.flatMap((value, at) => (value.startsWith('bad') ? [[at, badKey]] : [])),
      ),
    });
  };
  const failed = { kind: 'failure', message: 'the counter store cannot count under this key' };
  const over = { overallCode: 'OVER_LIMIT' };

  it.each([
    [['plain=5', 'plain=bad'], {}, over],
    [['plain=bad', 'plain=5'], {}, over],
    [['plain=4', 'plain=bad'], {}, failed],
    [['dark=5', 'plain=bad'], {}, failed],
    [['quota=5', 'plain=bad'], {}, over],
    [['quota=5', 'quota=4', 'plain=bad'], {}, failed],
    [['quota=5', 'quota=bad'], {}, failed],
    [['plain=5', 'quota=bad'], {}, over],
    [['plain=5', 'plain=bad'], { quotaMode: true }, failed],
    [['plain=5', 'plain=bad'], { shadowMode: true }, failed],
    [['plain=5', 'plain=bad'], { onStoreError: 'allow' as const }, over],
  ])('%j with %j', async (descriptors, options, expected) => {
    const { answer } = await setUp(add, options, true, quotas)(...descriptors);
    expect(answer).toMatchObject(expected);
  });

  it('says nothing of the failed one, counts its hits as asked for and the request as answered', async () => {
    const { answer, batchStats } = await setUp(
      add,
      { dynamicMetadata: true },
      true,
      quotas,
    )('plain=bad', 'plain=5');
    expect(answer).toMatchObject({
      statuses: [
        { code: 'OK', currentLimit: undefined, limitRemaining: 0 },
        { code: 'OVER_LIMIT', limitRemaining: 0 },
      ],
    });
    expect(answer).not.toHaveProperty('dynamicMetadata.metadata');
    expect(batchStats).toMatchObject({ storeErrors: 1, answeredLocally: 1 });
    const none = { totalHits: 1, overLimit: 0, nearLimit: 0, withinLimit: 0 };
    expect(batchStats.rules).toMatchObject([none, { totalHits: 1, overLimit: 1 }]);
  });

  it('a rule that denies is honoured beside a key that no store takes', async () => {
    const mixed = ({ increments }: CounterBatch): Promise<CounterReply> =>
      Promise.resolve({
        after: [0, 0],
        held: undefined,
        failures: new Map(increments.map((_, at) => [at, at === 0 ? away : badKey])),
      });
    expect((await setUp(mixed)('deny=1', 'plain=1')).answer).toMatchObject(over);
    expect((await setUp(mixed)('allow=1', 'plain=1')).answer).toMatchObject(failed);
  });
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
    const hear = ({ message }: StoreError): number => operators.push(message);
    const { answer } = await setUp(failing(error), {}, true, rules, hear)('plain=1');
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
  const decide = async (localAdd: () => Promise<CounterReply>) => {
    const { answers } = await createDecider({
      rules: { current: rules },
      counters: { add: failing() },
      localCounters: { add: localAdd },
      clock: () => NOW,
    })(request('shop', ['local=1']));
    return answers[0];
  };
  expect(await decide(failing(broken))).toMatchObject({ message });
  const partly = { after: [0], held: undefined, failures: new Map([[0, broken]]) };
  expect(await decide(() => Promise.resolve(partly))).toMatchObject({ message });
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

describe('with a store that reads before it adds', () => {
  const echo = ({ increments }: CounterBatch): Promise<CounterReply> =>
    Promise.resolve({
      after: increments.map(({ hits }) => Number(hits)),
      held: undefined,
      failures: undefined,
    });

  it('descriptors of one request see no hits of each other, those of another request they see', async () => {
    const decide = createDecider(
      { rules: { current: rules }, counters: { add: echo }, clock: () => NOW },
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
