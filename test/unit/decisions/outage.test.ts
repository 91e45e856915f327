import { StoreError } from '../../../src/core/errors';
import type { OnStoreError } from '../../../src/core/rules/definition';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { createDecideBatch, type DecisionOptions } from '../../../src/decisions/decide-batch';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { recordingAsker } from '../../support/recording-asker';
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

const away = new StoreError('store_unavailable', 'redis is away');

function setUp(
  add: (batch: CounterBatch) => Promise<CounterReply>,
  options: Partial<DecisionOptions> = {},
  hasLocal = true,
) {
  const local = createMemoryCounters({ clock: () => NOW });
  const decideBatch = createDecideBatch(
    {
      rules: { current: rules },
      counters: { add },
      ...(hasLocal ? { localCounters: local } : {}),
      clock: () => NOW,
      random: () => 0,
      onFault: (error) => {
        throw error;
      },
    },
    {
      keyPrefix: '',
      ttlJitterSeconds: 0,
      holdBack: false,
      nearLimitRatio: 0.8,
      quotaMode: false,
      shadowMode: false,
      headers: undefined,
      dynamicMetadata: false,
      ...options,
    },
  );
  return async (...descriptors: readonly string[]) => {
    const asker = recordingAsker();
    const question = { request: request('shop', descriptors), asker, ticket: 0 };
    const tally = await decideBatch([question]);
    return { answer: asker.answers.get(0), tally };
  };
}

const failing =
  (error: StoreError = away) =>
  () =>
    Promise.reject(error);

describe('while the store is away', () => {
  it.each([
    ['error', { kind: 'failure', code: 'store_unavailable', message: 'redis is away' }],
    ['allow', { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 4 }] }],
    ['deny', { overallCode: 'OVER_LIMIT', statuses: [{ code: 'OVER_LIMIT', limitRemaining: 0 }] }],
    ['local', { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 3 }] }],
    ['dark', { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 0 }] }],
  ])('a rule with on_store_error %s answers so', async (key, expected) => {
    const { answer } = await setUp(failing())(`${key}=1`);
    expect(answer).toMatchObject(expected);
  });

  it.each(policies)('a rule that says nothing does what the setting says: %s', async (policy) => {
    const ask = setUp(failing(), { onStoreError: policy });
    const { answer: own } = await ask(`${policy}=1`);
    const { answer: byDefault } = await ask('plain=1');
    const shown = (answer: typeof own) => ({ ...answer, message: undefined });
    expect(shown(byDefault)).toEqual(shown(own));
  });

  it('one descriptor whose answer is an error fails the request', async () => {
    const { answer, tally } = await setUp(failing())('allow=1', 'error=1');
    expect(answer).toMatchObject({ kind: 'failure' });
    expect(tally).toMatchObject({ storeErrors: 1, answeredLocally: 0 });
    expect(tally.rules.map(({ totalHits, withinLimit }) => [totalHits, withinLimit])).toEqual([
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
    const ask = setUp(failing(), { failureReplicas });
    const codes: unknown[] = [];
    for (let call = 0; call < 6; call += 1) {
      const { answer } = await ask('local=1');
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
    const ask = setUp(failing(), { holdBack: true, onStoreError: 'local' });
    for (let call = 0; call < 4; call += 1) await ask('local=1');
    const { answer } = await ask('plain=1', 'local=1');
    expect(answer).toMatchObject({
      statuses: [{ limitRemaining: 4 }, { code: 'OVER_LIMIT' }],
    });
  });

  it('without counters of its own `local` is an error', async () => {
    const { answer } = await setUp(failing(), {}, false)('local=1');
    expect(answer).toMatchObject({ kind: 'failure', message: 'redis is away' });
  });

  it('a key that no store takes is an error under every rule', async () => {
    const error = new StoreError('store_unavailable', 'too long', { fault: 'key' });
    for (const policy of policies) {
      const { answer } = await setUp(failing(error))(`${policy}=1`);
      expect(answer).toMatchObject({ kind: 'failure', message: 'too long' });
    }
  });

  it.each([
    [away, {}],
    [new StoreError('store_timeout', 'slow'), { storeTimeouts: 1 }],
    [new StoreError('store_unavailable', 'open', { fault: 'breaker' }), { breakerOpen: 1 }],
  ])('%s is counted by its kind', async (error, kinds) => {
    const { tally } = await setUp(failing(error))('plain=1');
    const none = { storeTimeouts: 0, breakerOpen: 0, answeredLocally: 0 };
    expect(tally).toMatchObject({ storeErrors: 1, ...none, ...kinds });
    const { tally: answered } = await setUp(failing(error))('local=1', 'allow=1');
    expect(answered).toMatchObject({ storeErrors: 1, ...none, ...kinds, answeredLocally: 1 });
  });
});

it('only what one node failed is made up for', async () => {
  const add = ({ increments }: CounterBatch) =>
    Promise.resolve({
      after: increments.map((_, index) => (index === 0 ? 2 : 0)),
      held: undefined,
      failures: new Map([[1, away]]),
    });
  const ask = setUp(add);
  const { answer } = await ask('plain=1', 'local=1');
  expect(answer).toMatchObject({ statuses: [{ limitRemaining: 2 }, { limitRemaining: 3 }] });
  expect((await ask('plain=1')).tally.storeErrors).toBe(0);
});

it('a failure of the counts of this process is an error', async () => {
  const broken = new StoreError('store_unavailable', 'the memory counters are full');
  const decide = async (localAdd: () => Promise<CounterReply>) => {
    const asker = recordingAsker();
    const decideBatch = createDecideBatch(
      {
        rules: { current: rules },
        counters: { add: failing() },
        localCounters: { add: localAdd },
        clock: () => NOW,
        random: () => 0,
        onFault: () => undefined,
      },
      {
        keyPrefix: '',
        ttlJitterSeconds: 0,
        holdBack: false,
        nearLimitRatio: 0.8,
        quotaMode: false,
        shadowMode: false,
        headers: undefined,
        dynamicMetadata: false,
      },
    );
    await decideBatch([{ request: request('shop', ['local=1']), asker, ticket: 0 }]);
    return asker.answers.get(0);
  };
  expect(await decide(failing(broken))).toMatchObject({ message: broken.message });
  const partly = { after: [0], held: undefined, failures: new Map([[0, broken]]) };
  expect(await decide(() => Promise.resolve(partly))).toMatchObject({ message: broken.message });
});

describe('a reply with counters known to be over', () => {
  const known = ({ increments }: CounterBatch): Promise<CounterReply> =>
    Promise.resolve({
      after: increments.map(() => 0),
      held: undefined,
      failures: undefined,
      known: increments.map(() => true),
    });

  it('refuses, and counts the hits as over by the local cache', async () => {
    const { answer, tally } = await setUp(known)('plain=1', 'dark=1');
    expect(answer).toMatchObject({
      overallCode: 'OVER_LIMIT',
      statuses: [{ code: 'OVER_LIMIT', limitRemaining: 0 }, { code: 'OK' }],
    });
    const counted = { totalHits: 1, overLimit: 1, overLimitWithLocalCache: 1, nearLimit: 0 };
    expect(tally.rules).toMatchObject([
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
    const asker = recordingAsker();
    const decideBatch = createDecideBatch(
      {
        rules: { current: rules },
        counters: { add: echo },
        clock: () => NOW,
        random: () => 0,
        onFault: () => undefined,
      },
      {
        keyPrefix: '',
        ttlJitterSeconds: 0,
        holdBack: false,
        nearLimitRatio: 0.8,
        quotaMode: false,
        shadowMode: false,
        headers: undefined,
        dynamicMetadata: false,
        readFirst: true,
      },
    );
    const twice = request('shop', [descriptor('plain=1'), descriptor('plain=1')]);
    await decideBatch([0, 1].map((ticket) => ({ request: twice, asker, ticket })));
    const left = [0, 1].map((ticket) => {
      const answer = asker.answers.get(ticket);
      return answer?.kind === 'decision' && answer.statuses.map((one) => one.limitRemaining);
    });
    expect(left).toEqual([
      [3, 3],
      [1, 1],
    ]);
  });
});
