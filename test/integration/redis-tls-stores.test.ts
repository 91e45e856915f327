import { readFileSync, rmSync } from 'node:fs';
import type { Subscription } from 'rxjs';
import { chooseCounters, type CounterStore } from '../../src/app/store/store';
import { readSettings } from '../../src/settings/settings';
import { createRegistry } from '../../src/stats/registry';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { createAuthority } from '../support/certificates';
import { SOME_LIMIT } from '../support/rules';
import { eventually } from '../support/edge/eventually';
import { createRecordingLogger } from '../support/recording-logger';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

const authority = createAuthority();
const client = authority.issue('client');
const tester = authority.issue('tester');
let servers: readonly RedisServer[] = [];
let subscriptions: readonly Subscription[] = [];
let store: CounterStore | undefined;

afterEach(async () => {
  await store?.counters.close();
  for (const each of subscriptions) each.unsubscribe();
  await Promise.all(servers.map((server) => server.stop()));
});
afterAll(() => {
  rmSync(authority.directory, { recursive: true });
});

/** Two Redis servers that want client certificates, and a store made from the environment. */
async function run(names: readonly string[], env: Readonly<Record<string, string>>) {
  const tls = authority.issue('server', names);
  const mine = {
    ca: readFileSync(tester.caFile),
    cert: readFileSync(tester.certFile),
    key: readFileSync(tester.keyFile),
    checkServerIdentity: () => undefined,
  };
  servers = await Promise.all([
    startRedisServer({ tls }, { tls: mine }),
    startRedisServer({ tls }, { tls: mine }),
  ]);
  const [main, perSecond] = servers.map(({ port }) => `127.0.0.1:${String(port)}`);
  const read = readSettings({
    KVSTORE_URL: main,
    KVSTORE_TLS: 'true',
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: perSecond,
    KVSTORE_PERSECOND_TLS: 'true',
    KVSTORE_TLS_CACERT: client.caFile,
    KVSTORE_STARTUP_INITIAL_INTERVAL: '50ms',
    DISABLE_STATS: 'true',
    ...env,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const { logger, lines } = createRecordingLogger();
  const made = chooseCounters(read.settings, {
    clock: () => Date.now() / 1_000,
    monotonicMs: () => performance.now(),
    random: Math.random,
    statistics: createRegistry(),
    logger,
  });
  store = made;
  const states: boolean[] = [];
  subscriptions = [made.connected$.subscribe((state) => states.push(state)), made.run$.subscribe()];
  const count = async () => {
    const increments = (['SECOND', 'HOUR'] as const).map((unit) =>
      increment(freshKey(), 1, { rule: { ...SOME_LIMIT, unit } }),
    );
    const { after } = await made.counters.add(batch(increments));
    return after;
  };
  return { states, lines, count };
}

const CERTIFICATE = {
  KVSTORE_TLS_CLIENT_CERT: client.certFile,
  KVSTORE_TLS_CLIENT_KEY: client.keyFile,
};

it('counts in both stores over TLS, with the certificate that they want', async () => {
  const { states, count } = await run(['127.0.0.1'], CERTIFICATE);
  await eventually(() => {
    expect(states.at(-1)).toBe(true);
  });
  expect(await count()).toEqual([1, 1]);
});

it('counts in both stores whatever their name is, when names are not looked at', async () => {
  const env = { ...CERTIFICATE, KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION: 'true' };
  const { states, count } = await run(['elsewhere.example'], env);
  await eventually(() => {
    expect(states.at(-1)).toBe(true);
  });
  expect(await count()).toEqual([1, 1]);
});

it.each<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
  ['of another name', ['elsewhere.example'], CERTIFICATE, /certificate is for .* and not for/],
  [
    'that wants a certificate and gets none',
    ['127.0.0.1'],
    {},
    /requires a client certificate|closed|reset/i,
  ],
  [
    'of an authority that is not trusted',
    ['127.0.0.1'],
    { ...CERTIFICATE, KVSTORE_TLS_CACERT: createStranger() },
    /an unknown authority signed the server's certificate/,
  ],
])('uses no store %s, and says why for each', async (_, names, env, reason) => {
  const { states, lines } = await run(names, env);
  await eventually(() => {
    const told = lines.filter(({ fields }) => reason.test(JSON.stringify(fields)));
    const texts = new Set(
      told.map(({ message, fields }) => `${message} ${String(fields['store'])}`),
    );
    expect(texts.size).toBeGreaterThanOrEqual(2);
  });
  expect(states).not.toContain(true);
});

function createStranger(): string {
  const stranger = createAuthority('stranger');
  afterAll(() => {
    rmSync(stranger.directory, { recursive: true });
  });
  return stranger.caFile;
}
