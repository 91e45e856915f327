import type { Decision, DecisionRequest } from '../../src/core/model';
import type { ShownCounter } from '../../src/app/admin/counter-admin';
import { RESET, startCounterInstance } from '../support/edge/counter-instance';
import { budgetOf, inFlight } from '../support/budgets';
import { createDecider, decisionOf } from '../support/decider';
import { eventually } from '../support/edge/eventually';
import { packRecord } from '../support/packed-record';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { descriptor, request } from '../support/requests';
import { rulesOf } from '../support/rules';

/** What operators do with counters of budgets, in each store that keeps them. */

const RULES = rulesOf('llm', [
  {
    key: 'user',
    ...budgetOf(
      [
        { unit: 'DAY', requestsPerUnit: 100 },
        { unit: 'HOUR', requestsPerUnit: 50, algorithm: 'gcra', name: 'paced' },
        inFlight(4),
      ],
      { reserve: { leaseMs: 600_000 } },
    ),
  },
  {
    key: 'guest',
    ...budgetOf([{ unit: 'HOUR', requestsPerUnit: 2 }], { block: { forMs: 600_000 } }),
  },
  {
    key: 'pair',
    ...budgetOf([
      { unit: 'DAY', requestsPerUnit: 100 },
      { unit: 'HOUR', requestsPerUnit: 50, algorithm: 'gcra' },
    ]),
  },
  { key: 'plain', limit: [5, 'HOUR'] },
]);
const ANN = request('llm', ['user=ann']);
const GUEST = request('llm', ['guest=bob']);

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const urlOf = ({ port }: RedisServer) => `127.0.0.1:${String(port)}`;

async function startRedis(): Promise<RedisServer> {
  const server = await startRedisServer();
  endings.push(() => server.stop());
  return server;
}

async function start(env: Readonly<Record<string, string>>) {
  const instance = await startCounterInstance(RULES, env);
  endings.push(instance.stop);
  const { counters } = instance.store;
  const decide = createDecider({
    ...{ rules: { current: RULES }, counters },
    clock: () => Date.now() / 1_000,
  });
  const code = async (asked: DecisionRequest): Promise<Decision['overallCode']> => {
    const { answers } = await decide(asked);
    return decisionOf(answers[0]).overallCode;
  };
  return {
    ...instance,
    ask: code,
    reserve: (id: string, hits: number) =>
      code(request('llm', [descriptor(['user=ann', `reserve=${id}`], { hits })])),
    settle: (id: string, hits: number) =>
      code(request('llm', [descriptor(['user=ann', `settle=${id}`], { hits })])),
    async read(asked = ANN) {
      const answer = await instance.admin.read(asked);
      if ('kind' in answer) throw new Error(answer.message);
      return answer[0] as ShownCounter;
    },
  };
}

const starts: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
  'two Redis': async () => ({
    KVSTORE_URL: urlOf(await startRedis()),
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: urlOf(await startRedis()),
  }),
  'a cluster': async () => {
    const cluster = await startRedisCluster();
    endings.push(() => cluster.stop());
    const url = cluster.masters.map(urlOf).join(',');
    return { KVSTORE_TYPE: 'cluster', KVSTORE_URL: url, KVSTORE_PIPELINE_WINDOW: '150us' };
  },
};

describe.each(Object.entries(starts))('%s', (_, startStore) => {
  it('keeps open reservations through a reset, ends them when it is told to, and lists them', async () => {
    const { admin, reserve, settle, read, lines } = await start(await startStore());
    for (const [id, hits] of [
      ['a', 10],
      ['b', 20],
      ['c', 5],
    ] as const)
      expect(await reserve(id, hits)).toBe('OK');
    await settle('b', 25);
    expect(await read()).toMatchObject({ held: 15, open: 2, count: 40, oldestSeconds: 0 });

    const listed = await admin.open(ANN, 1_000);
    expect(listed).toMatchObject({
      entries: ['user=ann'],
      open: 2,
      held: 15,
      reservations: [
        { id: 'a', hits: 10 },
        { id: 'c', hits: 5 },
      ],
    });
    const { reservations = [] } = listed as { reservations?: { endsInSeconds: number }[] };
    for (const { endsInSeconds } of reservations) {
      expect(endsInSeconds).toBeGreaterThan(540);
      expect(endsInSeconds).toBeLessThanOrEqual(600);
    }
    expect(await admin.open(ANN, 1)).toMatchObject({ reservations: [{ id: 'a' }] });

    await admin.change(ANN, RESET);
    expect(await read()).toMatchObject({ held: 15, open: 2, count: 15 });
    await admin.change(ANN, { ...RESET, open: true });
    expect(await read()).toMatchObject({ held: 0, open: 0, count: 0 });
    expect(await admin.open(ANN, 1_000)).toMatchObject({ reservations: [] });
    // What is settled later was not open any more, and is not charged.
    await settle('a', 10);
    expect(await read()).toMatchObject({ count: 0 });
    for (const id of ['d', 'e', 'f', 'g']) expect(await reserve(id, 1)).toBe('OK');
    expect(await reserve('h', 1)).toBe('OVER_LIMIT');
    const resets = lines.filter(({ message }) => message === 'counters were reset');
    expect(resets.map(({ fields }) => fields['open'])).toEqual([undefined, [2]]);
  });
});

it('tells other instances of a block that was lifted, and ends reservations for them', async () => {
  const redis = await startRedis();
  const env = { KVSTORE_URL: urlOf(redis) };
  const [a, b] = [await start(env), await start(env)];
  await eventually(async () => {
    const [, counted] = (await redis.client.call('PUBSUB', 'NUMSUB', 'weir:forget')) as unknown[];
    expect(counted).toBe(2);
  });
  for (const id of ['a', 'b', 'c', 'd']) await b.reserve(id, 1);
  for (const one of [b, b, b, b]) await one.ask(GUEST);
  expect([await b.reserve('e', 1), await b.ask(GUEST)]).toEqual(['OVER_LIMIT', 'OVER_LIMIT']);
  const both = request('llm', ['user=ann', 'guest=bob']);
  await a.admin.change(both, { ...RESET, open: true });
  expect(await b.reserve('e', 1)).toBe('OK');
  await eventually(async () => {
    await redis.client.del('{c:llm_guest_bob~3}~c');
    expect(await b.ask(GUEST)).toBe('OK');
  });
});

describe('what makes no sense', () => {
  it('is an error where a record is not ours, which a change of all limits alone puts right', async () => {
    const redis = await startRedis();
    const { admin, ask, reserve, read } = await start({ KVSTORE_URL: urlOf(redis) });
    const pair = request('llm', ['pair=x']);
    await ask(pair);
    await reserve('a', 5);
    const head = (await redis.client.hgetBuffer('{c:llm_user_ann~3}~r', 's')) as Buffer;
    const [list = ''] = await redis.client.keys('*pair*');
    for (const record of [Buffer.from('f86400 1 2;'), packRecord('f86400 1 2;').subarray(1, -3)]) {
      await redis.client.set(list, record);
      await redis.client.hset('{c:llm_user_ann~3}~r', 's', Buffer.concat([head, record]));
      for (const asked of [pair, ANN]) {
        expect(await read(asked)).toMatchObject({ error: expect.anything() as string });
        const one = { ...RESET, used: 3, limit: 'day' };
        expect(await admin.change(asked, one)).toMatchObject([
          { error: expect.anything() as string },
        ]);
        await admin.change(asked, { ...RESET, used: 3 });
        expect(await read(asked)).toMatchObject({ count: expect.any(Number) as number });
      }
    }
  });
});
