import type { DecisionRequest } from '../../src/core/model';
import { compileRules } from '../../src/core/rules/compile';
import type { ShownCounter } from '../../src/app/admin/counter-admin';
import { budgetOf, inFlight } from '../support/budgets';
import { startCounterInstance } from '../support/edge/counter-instance';
import { createDecider, decisionOf } from '../support/decider';
import { REDIS_STORES } from '../support/edge/redis-stores';
import { descriptor, request } from '../support/requests';
import { definitionsOf } from '../support/rules';

/** Reservations and requests that are charged together, asked of two instances at the same time; by turns: test/scenarios. */

const RULES = compileRules([
  {
    domain: 'llm',
    rules: definitionsOf([
      { key: 'tokens', ...budgetOf([{ unit: 'YEAR', requestsPerUnit: 100 }], { reserve: {} }) },
      { key: 'slot', ...budgetOf([inFlight(4), { unit: 'YEAR', requestsPerUnit: 1_000 }]) },
    ]),
  },
  {
    domain: 'shop',
    rules: definitionsOf([
      { key: 'user', limit: [5, 'YEAR'] },
      { key: 'team', limit: [8, 'YEAR'] },
    ]),
    isChargedTogether: true,
  },
]);

type Env = Readonly<Record<string, string>>;

async function startInstance(env: Env) {
  const { store, admin, stop } = await startCounterInstance(RULES, {
    KVSTORE_TIMEOUT: '10s',
    ...env,
  });
  const decide = createDecider({
    ...{ rules: { current: RULES }, counters: store.counters },
    clock: () => Date.now() / 1_000,
  });
  const isAdmitted = async (asked: DecisionRequest): Promise<boolean> => {
    const { answers } = await decide(asked);
    return decisionOf(answers[0]).overallCode === 'OK';
  };
  return {
    admin,
    stop,
    isAdmitted,
    reserve: (text: string, id: string, hits = 1) =>
      isAdmitted(request('llm', [descriptor([text, `reserve=${id}`], { hits })])),
    settle: (text: string, id: string, hits?: number) =>
      isAdmitted(request('llm', [descriptor([text, `settle=${id}`], { hits })])),
    async read(text: string, domain = 'llm') {
      const answer = await admin.read(request(domain, [text]));
      if ('kind' in answer) throw new Error(answer.message);
      return answer[0] as ShownCounter;
    },
  };
}

type Instance = Awaited<ReturnType<typeof startInstance>>;

/** So many calls of each instance, all on their way at once; answers which of them were admitted, by their numbers. */
async function together(
  instances: readonly Instance[],
  times: number,
  call: (instance: Instance, number: number) => Promise<boolean>,
): Promise<readonly number[]> {
  const calls = Array.from({ length: times }, (_, at) =>
    instances.map((instance, which) => call(instance, at * instances.length + which)),
  );
  const admitted = await Promise.all(calls.flat());
  return admitted.flatMap((is, number) => (is ? [number] : []));
}

const names = (key: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${key}=${String.fromCharCode(97 + at)}`);

describe.each(['one server', 'a cluster'] as const)('two instances on %s', (name) => {
  let store: Awaited<ReturnType<(typeof REDIS_STORES)[typeof name]>>;
  let both: readonly [Instance, Instance];
  beforeAll(async () => {
    store = await REDIS_STORES[name]();
    both = [await startInstance(store.env), await startInstance(store.env)];
  });
  afterAll(async () => {
    for (const each of both) await each.stop();
    await store.stop();
  });

  it('hold together no more than the limit, and settle what the other one reserved', async () => {
    const [a, b] = both;
    await Promise.all(
      names('tokens', 12).map(async (who) => {
        const held = await together(both, 10, (one, at) => one.reserve(who, String(at), 10));
        expect(held).toHaveLength(10);
        expect(await a.read(who)).toMatchObject({ held: 100, open: 10, count: 100 });
        // Each by the instance that did not open it.
        await Promise.all(held.map((at) => (at % 2 === 0 ? b : a).settle(who, String(at), 4)));
        expect(await b.read(who)).toMatchObject({ held: 0, open: 0, count: 40 });
      }),
    );
    const sizes = await Promise.all(store.masters.map(({ client }) => client.dbsize()));
    expect(sizes.every((size) => size > 0)).toBe(true);
  });

  it('charge requests whole or not at all, and never above a limit', async () => {
    const users = names('user', 4);
    const admitted = await together(both, 12, (one, at) =>
      one.isAdmitted(request('shop', [users[at % 4] as string, 'team=t'])),
    );
    const [a] = both;
    const counts = await Promise.all(users.map(async (who) => (await a.read(who, 'shop')).count));
    const perUser = users.map((_, which) => admitted.filter((at) => at % 4 === which).length);
    expect(counts).toEqual(perUser);
    expect((await a.read('team=t', 'shop')).count).toBe(admitted.length);
    // In a cluster their counters lie on several nodes, where a refusal too many is possible.
    if (name === 'a cluster') expect(admitted.length).toBeLessThanOrEqual(8);
    else expect(admitted).toHaveLength(8);
  });

  if (name === 'one server') return;
  it('keep what is open while its slot moves to another node', async () => {
    if (!('cluster' in store)) throw new Error('the cluster was not started');
    const { cluster } = store;
    const [a, b] = both;
    const key = '{c:llm_slot_moving~3}~r';
    const owner = await cluster.ownerOf(key);
    const target = cluster.masters.find(({ port }) => port !== owner.port) as typeof owner;
    expect([await a.reserve('slot=moving', '1'), await b.reserve('slot=moving', '2')]).toEqual([
      true,
      true,
    ]);
    const move = await cluster.beginMoving(key, target);
    expect(await b.reserve('slot=moving', '3')).toBe(true);
    await move.moveKeys();
    const taken = await together(both, 4, (one, at) =>
      one.reserve('slot=moving', `more ${String(at)}`),
    );
    expect(taken).toHaveLength(1);
    await move.finish();
    expect(await a.settle('slot=moving', '2')).toBe(true);
    expect(
      await together(both, 4, (one, at) => one.reserve('slot=moving', `last ${String(at)}`)),
    ).toHaveLength(1);
    expect(await b.read('slot=moving')).toMatchObject({ open: 4 });
  });
});
