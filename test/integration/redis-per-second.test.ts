import { readFileSync, rmSync } from 'node:fs';
import type { Unit } from '../../src/core/units';
import { chooseCounters } from '../../src/app/store/store';
import { readSettings } from '../../src/settings/settings';
import { createRegistry } from '../../src/stats/registry';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { createAuthority } from '../support/certificates';
import { SOME_LIMIT } from '../support/rules';
import { eventually } from '../support/edge/eventually';
import { createRecordingLogger } from '../support/recording-logger';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startStopwatch } from '../support/edge/core-time';
import { expectFigure } from '../support/edge/figure';

let others: RedisServer;
let perSecond: RedisServer;
const endings: (() => unknown)[] = [];
async function startBoth(...args: Parameters<typeof startRedisServer>): Promise<void> {
  [others, perSecond] = await Promise.all([startRedisServer(...args), startRedisServer(...args)]);
}
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
  await Promise.all([others.stop(), perSecond.stop()]);
});

/** The store as the service makes it from the environment. */
function start(env: Readonly<Record<string, string>>) {
  const read = readSettings({
    KVSTORE_URL: `127.0.0.1:${String(others.port)}`,
    KVSTORE_TIMEOUT: '20s',
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: `127.0.0.1:${String(perSecond.port)}`,
    KVSTORE_PERSECOND_TIMEOUT: '20s',
    KVSTORE_STARTUP_INITIAL_INTERVAL: '50ms',
    DISABLE_STATS: 'true',
    ...env,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const store = chooseCounters(read.settings, {
    clock: () => Date.now() / 1_000,
    monotonicMs: () => performance.now(),
    random: Math.random,
    statistics: registry,
    logger,
  });
  const states: boolean[] = [];
  const connectionOf = new Map<string, boolean>();
  const subscriptions = [
    store.connected$.subscribe((state) => states.push(state)),
    ...[...store.connections].map(([name, connected$]) =>
      connected$.subscribe((state) => connectionOf.set(name, state)),
    ),
    store.run$.subscribe(),
  ];
  endings.push(async () => {
    await store.counters.close();
    for (const each of subscriptions) each.unsubscribe();
  });
  return { ...store, states, connectionOf, registry, lines };
}

async function run(env: Readonly<Record<string, string>> = {}) {
  const store = start(env);
  await eventually(() => {
    expect(store.states.at(-1)).toBe(true);
  });
  return store;
}

const per = (unit: Unit, key = freshKey(), hits = 1) =>
  increment(key, hits, { rule: { ...SOME_LIMIT, unit, isPerSecond: unit === 'SECOND' } });

describe('two stores', () => {
  beforeEach(() => startBoth());

  it('counts limits per second in their own store and all others in the first', async () => {
    const { counters, registry } = await run();
    const [second, minute, day] = [freshKey(), freshKey(), freshKey()];
    const { after } = await counters.add(
      batch([
        per('SECOND', second),
        per('MINUTE', minute, 2),
        per('SECOND', second),
        per('DAY', day),
      ]),
    );
    expect(after).toEqual([1, 2, 2, 1]);
    expect((await perSecond.client.keys('*')).sort()).toEqual([second]);
    expect((await others.client.keys('*')).sort()).toEqual([minute, day].sort());
    expect(registry.counter('ratelimit.redis_pool.cx_total').value).toBe(1);
    expect(registry.counter('ratelimit.redis_per_second_pool.cx_total').value).toBe(1);
  });

  it('does not touch the other store when all counters of a batch lie in one', async () => {
    const { counters } = await run();
    others.pause();
    const elapsedMs = startStopwatch();
    expect((await counters.add(batch([per('SECOND')]))).after).toEqual([1]);
    expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 5_000 });
  });

  it('fails only what belongs to the store that is away, each by its own time-out', async () => {
    const { counters } = await run({ KVSTORE_PERSECOND_TIMEOUT: '300ms' });
    perSecond.pause();
    const elapsedMs = startStopwatch();
    const { after, failures } = await counters.add(
      batch([per('HOUR'), per('SECOND'), per('HOUR')]),
    );
    expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 5_000 });
    expect([after[0], after[2]]).toEqual([1, 1]);
    expect([...(failures ?? [])].map(([at, { code }]) => [at, code])).toEqual([
      [1, 'store_timeout'],
    ]);
  });

  it('gathers what each store gets for its own pipeline window', async () => {
    const { counters } = await run({ KVSTORE_PERSECOND_PIPELINE_WINDOW: '30ms' });
    const callsOf = async ({ client }: RedisServer) =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    // A connection begins with a call that checks what its user may do.
    const before = [await callsOf(perSecond), await callsOf(others)];
    const key = freshKey();
    const both = () => counters.add(batch([per('SECOND', key), per('HOUR')]));
    const replies = await Promise.all([both(), both(), both()]);
    expect(replies.map(({ after }) => after)).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    const after = [await callsOf(perSecond), await callsOf(others)];
    expect(after.map((calls, at) => calls - (before[at] ?? 0))).toEqual([1, 3]);
  });

  it('is connected while both stores are', async () => {
    const { states, connectionOf } = await run();
    await perSecond.kill();
    await eventually(() => {
      expect(states.at(-1)).toBe(false);
    });
    expect([...connectionOf]).toEqual([
      ['store', true],
      ['per-second store', false],
    ]);
    perSecond = await startRedisServer({ port: perSecond.port });
    await eventually(() => {
      expect(states.at(-1)).toBe(true);
    });
  });

  it('holds back across both stores, and says once that this is not atomic', async () => {
    const { counters, lines } = await run();
    const [full, free] = [freshKey(), freshKey()];
    await counters.add(batch([per('SECOND', full, 10)]));
    for (const after of [11, 12])
      expect(await counters.add(batch([per('HOUR', free), per('SECOND', full)], [2]))).toEqual({
        after: [0, after],
        held: [true, false],
        failures: undefined,
      });
    expect(await others.client.exists(free)).toBe(0);
    const warnings = lines.filter((line) => JSON.stringify(line).includes('not atomic'));
    expect(warnings).toHaveLength(1);
  });
});

describe('over TLS, with the certificate that they want', () => {
  const authority = createAuthority();
  afterAll(() => {
    rmSync(authority.directory, { recursive: true });
  });
  const startTls = (name: string) => {
    const { caFile, certFile, keyFile } = authority.issue('tester');
    const tls = {
      ca: readFileSync(caFile),
      cert: readFileSync(certFile),
      key: readFileSync(keyFile),
      checkServerIdentity: () => undefined,
    };
    return startBoth({ tls: authority.issue('server', [name]) }, { tls });
  };
  const client = authority.issue('client');
  const TLS = {
    KVSTORE_TLS: 'true',
    KVSTORE_PERSECOND_TLS: 'true',
    KVSTORE_TLS_CACERT: client.caFile,
  };
  const CERTIFICATE = {
    KVSTORE_TLS_CLIENT_CERT: client.certFile,
    KVSTORE_TLS_CLIENT_KEY: client.keyFile,
  };

  it.each([
    ['', '127.0.0.1', {}],
    [', whatever their name is', 'elsewhere', { KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION: 'true' }],
  ])('counts in both stores%s', async (_, name, env) => {
    await startTls(name);
    const { counters } = await run({ ...TLS, ...CERTIFICATE, ...env });
    expect((await counters.add(batch([per('SECOND'), per('HOUR')]))).after).toEqual([1, 1]);
  });

  it.each<[string, string, Readonly<Record<string, string>>, RegExp]>([
    ['of another name', 'elsewhere', CERTIFICATE, /certificate is for .* and not for/],
    [
      'that wants a certificate and gets none',
      '127.0.0.1',
      {},
      /requires a client certificate|closed|reset/i,
    ],
    [
      'of an authority that is not trusted',
      '127.0.0.1',
      { ...CERTIFICATE, KVSTORE_TLS_CACERT: createStranger() },
      /an unknown authority signed the server's certificate/,
    ],
  ])('uses no store %s, and says why for each', async (_, name, env, reason) => {
    await startTls(name);
    const { states, lines } = start({ ...TLS, ...env });
    await eventually(() => {
      const told = lines.filter(({ fields }) => reason.test(JSON.stringify(fields)));
      const texts = told.map(({ message, fields }) => `${message} ${String(fields['store'])}`);
      expect(new Set(texts).size).toBeGreaterThanOrEqual(2);
    });
    expect(states).not.toContain(true);
  });
});

function createStranger(): string {
  const stranger = createAuthority('stranger');
  afterAll(() => {
    rmSync(stranger.directory, { recursive: true });
  });
  return stranger.caFile;
}
