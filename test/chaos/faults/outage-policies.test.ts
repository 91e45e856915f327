import { COLUMN, startDrill, type Drill } from '../../support/edge/fault-drill';
import { eventually } from '../../support/edge/eventually';
import { startMemcachedServer } from '../../support/edge/memcached-server';
import { startRedisServer } from '../../support/edge/redis-server';

interface Store {
  readonly env: Readonly<Record<string, string>>;
  readonly kill: () => Promise<void>;
}

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(endings.splice(0).map((end) => end()));
});

async function startRedis(): Promise<Store> {
  const server = await startRedisServer();
  endings.push(() => server.stop());
  return { env: { KVSTORE_URL: `127.0.0.1:${String(server.port)}` }, kill: () => server.kill() };
}

async function startMemcached(): Promise<Store> {
  const { port, kill, stop } = await startMemcachedServer();
  endings.push(stop);
  return { env: { MEMSTORE_HOST_PORT: `127.0.0.1:${String(port)}` }, kill };
}

/** What callers get of each policy while the store is away, one call after the other; limit 4. */
const POLICIES = {
  error: { sees: '`UNAVAILABLE`', codes: [14, 14, 14, 14, 14] },
  allow: { sees: 'OK, with the whole limit remaining', codes: ['OK', 'OK', 'OK', 'OK', 'OK'] },
  deny: { sees: 'OVER_LIMIT', codes: new Array<string>(5).fill('OVER_LIMIT') },
  local: {
    sees: 'OK up to limit ÷ `KVSTORE_FAILURE_REPLICAS`, then OVER_LIMIT',
    codes: ['OK', 'OK', 'OVER_LIMIT', 'OVER_LIMIT', 'OVER_LIMIT'],
  },
} as const;
type Policy = keyof typeof POLICIES;
const NAMES = Object.keys(POLICIES) as Policy[];

/** Asks five times; the code of each answer, or its status. */
async function askFive({ ask }: Drill, key: string): Promise<readonly (string | number)[]> {
  const codes: (string | number)[] = [];
  for (let call = 0; call < 5; call += 1) {
    const { code, response } = await ask(key, 'caller');
    codes.push(code === 0 ? (response as { overallCode: string }).overallCode : code);
  }
  return codes;
}

async function start(store: Store, env: Readonly<Record<string, string>>): Promise<Drill> {
  const drill = await startDrill({ ...store.env, KVSTORE_FAILURE_REPLICAS: '2', ...env });
  endings.push(drill.stop);
  return drill;
}

/** Each rule says what it wants; a rule that says nothing gets what the setting says. */
async function expectPolicies(drill: Drill, byDefault: Policy): Promise<void> {
  await eventually(async () => {
    expect((await drill.ask('user', 'anyone')).code).toBe(byDefault === 'error' ? 14 : 0);
  });
  for (const policy of NAMES)
    expect([policy, await askFive(drill, policy)]).toEqual([policy, POLICIES[policy].codes]);
  expect([byDefault, await askFive(drill, 'plain')]).toEqual([
    byDefault,
    POLICIES[byDefault].codes,
  ]);
}

describe('any store', () => {
  const row = (policy: Policy) =>
    [
      `it is away, and \`on_store_error\` of the rule or \`KVSTORE_FAILURE_MODE\` is \`${policy}\``,
      POLICIES[policy].sees,
      'untouched',
    ].join(COLUMN);

  it.each(NAMES.map((policy) => [row(policy), policy] as const))('%s', async (_, policy) => {
    const store = policy === 'local' ? await startMemcached() : await startRedis();
    const drill = await start(store, { KVSTORE_FAILURE_MODE: policy });
    expect(await askFive(drill, 'plain')).toEqual(['OK', 'OK', 'OK', 'OK', 'OVER_LIMIT']);
    await store.kill();
    await expectPolicies(drill, policy);
  });
});
