import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { startSentinels } from '../support/edge/redis-sentinels';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

jest.setTimeout(120_000);

const page = readFileSync(join(__dirname, '../../docs/stores.md'), 'utf8');
const [, section = ''] = /### Commands and access lists\n([^]*?)\n### /.exec(page) ?? [];

/** The commands of the rows whose first cell says this, as the page has them. */
function commandsFor(...subjects: readonly RegExp[]): ReadonlySet<string> {
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return new Set(
    subjects.flatMap((subject) => {
      const [row, ...others] = rows.filter((line) => subject.test(line.split('|')[1] ?? ''));
      expect([subject, row !== undefined, others]).toEqual([subject, true, []]);
      const cell = row?.split('|')[2] ?? '';
      return [...cell.matchAll(/`([A-Z]+)`/g)].map(([, name = '']) => name.toLowerCase());
    }),
  );
}

const EVERY = /^ every connection/;
const SCRIPTS = /by scripts/;
const HOLD_BACK = /STOP_CACHE_KEY/;
const ALGORITHMS = /`algorithm`/;
const BUDGETS = /`in_flight`/;
const WITHOUT_SCRIPTS = /without scripts/;
const LIMITS_FROM = /limits_from/;
const TIME_ZONES = /`time_zone`/;
const LOCAL_CACHE = /LocalCacheSizeInBytes/;
const READING = /counters\/read/;
const WRITING = /counters\/reset/;

const RULES = `
domain: shop
descriptors:
  - key: fixed
    rate_limit: { unit: hour, requests_per_unit: 1 }
  - key: kept
    rate_limit: { unit: hour, requests_per_unit: 5, limits_from: { key: plans, refresh: 1s } }
  - key: gcra
    rate_limit: { unit: hour, requests_per_unit: 5, algorithm: gcra }
  - key: sliding
    rate_limit: { unit: hour, requests_per_unit: 500, algorithm: sliding_window }
  - key: calendar
    rate_limit: { unit: year, requests_per_unit: 5, calendar: true, time_zone: Europe/Berlin }
`;
const PLAIN_RULES = `
domain: shop
descriptors:
  - key: fixed
    rate_limit: { unit: hour, requests_per_unit: 1 }
`;

const BUDGET_RULES = `
domain: shop
descriptors:
  - key: held
    rate_limits:
      - { unit: year, requests_per_unit: 9 }
      - { unit: hour, requests_per_unit: 9, algorithm: gcra }
      - { algorithm: in_flight, requests_per_unit: 3 }
    reserve: { lease: 1s }
  - key: listed
    rate_limits:
      - { unit: year, requests_per_unit: 9 }
      - { unit: hour, requests_per_unit: 9, algorithm: gcra }
`;

let rules: TemporaryDirectory;
beforeAll(() => {
  rules = createTemporaryDirectory();
  rules.write('budgets/config/rules.yaml', BUDGET_RULES);
  rules.write('all/config/rules.yaml', RULES);
  rules.write('plain/config/rules.yaml', PLAIN_RULES);
});
afterEach(stopServices);
afterAll(() => {
  rules.remove();
});

/** Starts the service as a user who may send these commands and no others. */
async function startWith(
  redis: RedisServer,
  commands: ReadonlySet<string>,
  env: Readonly<Record<string, string>>,
): Promise<Service> {
  const may = [...commands].filter((name) => name !== 'auth').map((name) => `+${name}`);
  const user = ['weir', 'reset', 'on', '>pass', '~*', '&*weir:forget', '-@all', ...may] as const;
  await redis.client.call('ACL', 'SETUSER', ...user);
  return startService({
    waitUntilUp: 'connected',
    env: {
      RUNTIME_ROOT: join(rules.path, 'all'),
      BACKEND_TYPE: 'kvstore',
      KVSTORE_URL: `redis://127.0.0.1:${String(redis.port)}/1`,
      KVSTORE_AUTH: 'weir:pass',
      ...env,
    },
  });
}

/** What the server refused, and what it ran for others than the test. */
async function usesOf({ client }: RedisServer) {
  const log = (await client.call('ACL', 'LOG')) as readonly (readonly unknown[])[];
  const stats = await client.info('commandstats');
  // QUIT needs no right; all others are of the test's own client.
  const ofTest = new Set(['acl', 'info', 'config', 'client', 'hello', 'hset', 'quit']);
  const used = [...stats.matchAll(/^cmdstat_([a-z]+)(?:\||:)/gm)].map(([, name = '']) => name);
  return {
    refused: log.map((entry) => entry[5]),
    used: new Set(used.filter((name) => !ofTest.has(name))),
  };
}

const post = async (service: Service, path: string, body: object) =>
  fetch(`${service.debug}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const descriptor = (key: string) => ({
  domain: 'shop',
  descriptors: [{ entries: [{ key, value: 'a' }] }],
});

it('the commands of the page are enough for all that the service does, and none is left over', async () => {
  const redis = await startRedisServer();
  try {
    await redis.client.hset('plans', { b: '9' });
    const commands = commandsFor(
      ...[
        EVERY,
        SCRIPTS,
        HOLD_BACK,
        ALGORITHMS,
        LIMITS_FROM,
        TIME_ZONES,
        LOCAL_CACHE,
        READING,
        WRITING,
      ],
    );
    const service = await startWith(redis, commands, {
      LocalCacheSizeInBytes: '1048576',
      ADMIN_API: 'write',
    });
    for (const key of ['fixed', 'kept', 'gcra', 'sliding']) {
      expect((await ask(service, 'shop', `${key}=a`)).status).toBe(200);
      await ask(service, 'shop', `${key}=a`);
      expect((await post(service, 'counters/read', descriptor(key))).status).toBe(200);
      const set = { ...descriptor(key), used: 1 };
      expect((await post(service, 'counters/set', set)).status).toBe(200);
      expect((await post(service, 'counters/reset', descriptor(key))).status).toBe(200);
      expect((await ask(service, 'shop', `${key}=a`)).status).toBe(200);
    }
    await service.stop();
    const { refused, used } = await usesOf(redis);
    expect(refused).toEqual([]);
    expect([...used].sort()).toEqual([...commands].sort());
  } finally {
    await redis.stop();
  }
});

it('the commands of budgets are enough for them, none is left over, and operators see what is held', async () => {
  const redis = await startRedisServer();
  try {
    const needed = commandsFor(BUDGETS);
    const commands = new Set([...needed, ...commandsFor(EVERY, SCRIPTS, READING)]);
    const env = { RUNTIME_ROOT: join(rules.path, 'budgets') };
    const service = await startWith(redis, commands, env);
    const held = async () => {
      const response = await post(service, 'counters/read', descriptor('held'));
      const { counters } = (await response.json()) as { counters: readonly object[] };
      return counters[0];
    };
    const decide = async (entry: Readonly<Record<string, string>>): Promise<number> => {
      const all = { held: 'a', ...entry };
      const entries = Object.entries(all).map(([key, value]) => ({ key, value }));
      const body = JSON.stringify({ domain: 'shop', descriptors: [{ entries }] });
      return (await fetch(`${service.http}/json`, { method: 'POST', body })).status;
    };
    expect((await ask(service, 'shop', 'listed=a')).status).toBe(200);
    for (const reserve of ['one', 'two', 'three']) expect(await decide({ reserve })).toBe(200);
    expect(await held()).toMatchObject({ held: 3, open: 3 });
    expect(await decide({ settle: 'one' })).toBe(200);
    expect(await held()).toMatchObject({ held: 2, open: 2 });
    // Their leases end, and that of the last one a moment later.
    await eventually(async () => {
      expect(await decide({ reserve: 'four' })).toBe(200);
      expect(await held()).toMatchObject({ held: 1, open: 1 });
    });
    expect(await decide({ settle: 'four' })).toBe(200);
    expect(await held()).toMatchObject({ held: 0, open: 0 });
    await service.stop();
    const { refused, used } = await usesOf(redis);
    expect(refused).toEqual([]);
    const isShown = (name: string): boolean =>
      used.has(name) || ['hset', 'del', 'pttl'].includes(name);
    expect([...needed].filter((name) => !isShown(name))).toEqual([]);
  } finally {
    await redis.stop();
  }
});

it('a right that operators lack is a failure of their call', async () => {
  const redis = await startRedisServer();
  try {
    const commands = commandsFor(EVERY, SCRIPTS, HOLD_BACK, ALGORITHMS, LIMITS_FROM);
    const may = new Set([...commands].filter((name) => name !== 'del' && name !== 'psetex'));
    const service = await startWith(redis, may, { ADMIN_API: 'write' });
    for (const [path, body] of [
      ['counters/reset', descriptor('fixed')],
      ['counters/set', { ...descriptor('fixed'), used: 1 }],
    ] as const) {
      const answer = await post(service, path, body);
      expect([path, answer.status]).toEqual([path, 503]);
      expect(await answer.text()).toContain('NOPERM');
    }
  } finally {
    await redis.stop();
  }
});

it('the commands of the page are enough without scripts', async () => {
  const redis = await startRedisServer();
  try {
    const commands = commandsFor(EVERY, WITHOUT_SCRIPTS);
    const service = await startWith(redis, commands, {
      RUNTIME_ROOT: join(rules.path, 'plain'),
      KVSTORE_SCRIPTS: 'false',
      ADMIN_API: 'off',
    });
    expect((await ask(service, 'shop', 'fixed=a')).status).toBe(200);
    expect((await ask(service, 'shop', 'fixed=a')).status).toBe(429);
    await service.stop();
    const { refused, used } = await usesOf(redis);
    expect(refused).toEqual([]);
    expect([...used].filter((name) => !commands.has(name))).toEqual([]);
  } finally {
    await redis.stop();
  }
});

it('masters of sentinels and the nodes of a cluster hear no other commands', async () => {
  const [setup, cluster] = await Promise.all([startSentinels(), startRedisCluster()]);
  const known = (subject: RegExp) => commandsFor(EVERY, SCRIPTS, HOLD_BACK, ALGORITHMS, subject);
  // Of replicas, and of the tests that set both up.
  const others = new Set(
    'psync replconf replicaof slaveof publish subscribe exec multi pexpireat'.split(' '),
  );
  try {
    const sentinels = setup.address.sentinels.map(({ port }) => `127.0.0.1:${String(port)}`);
    const nodes = cluster.address.nodes.map(({ port }) => `127.0.0.1:${String(port)}`);
    for (const [type, url] of [
      ['sentinel', `limits,${sentinels.join(',')}`],
      ['cluster', nodes.join(',')],
    ] as const) {
      const servers = type === 'sentinel' ? setup.servers : cluster.masters;
      for (const { client } of servers) await client.config('RESETSTAT');
      const store = { BACKEND_TYPE: 'kvstore', KVSTORE_TYPE: type, KVSTORE_URL: url };
      const env = type === 'cluster' ? { ...store, KVSTORE_PIPELINE_WINDOW: '150us' } : store;
      const service = await startService({
        waitUntilUp: 'connected',
        env: { ...env, RUNTIME_ROOT: join(rules.path, 'plain') },
      });
      await eventually(async () => {
        expect((await ask(service, 'shop', 'fixed=a')).status).toBe(429);
      });
      await service.stop();
      const uses = await Promise.all(servers.map(usesOf));
      const commands = known(type === 'sentinel' ? /^ masters/ : /^ a cluster/);
      const unknown = uses
        .flatMap(({ used }) => [...used])
        .filter((name) => !commands.has(name) && !(type === 'sentinel' && others.has(name)));
      expect([type, unknown]).toEqual([type, []]);
    }
  } finally {
    await Promise.all([setup.stop(), cluster.stop()]);
  }
});
