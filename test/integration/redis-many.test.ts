import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { createAuthority, type Authority, type CertificateFiles } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { startRedisCluster, type RedisClusterOptions } from '../support/edge/redis-cluster';
import {
  connectRedisCounters,
  runRedisCounters,
  stopRedisCounters,
} from '../support/edge/redis-counters';
import { startSentinels, type SentinelSetupOptions } from '../support/edge/redis-sentinels';

jest.setTimeout(60_000);

const PASSWORD = 'correct-horse:battery';
const SENTINEL_PASSWORD = 'staple';
const auth = { username: undefined, password: PASSWORD };
const sentinelAuth = { username: undefined, password: SENTINEL_PASSWORD };

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(endings.splice(0).map((end) => end()));
});

async function sentinels(options: SentinelSetupOptions) {
  const setup = await startSentinels(options);
  endings.push(() => setup.stop());
  return setup;
}

async function cluster(options: RedisClusterOptions) {
  const started = await startRedisCluster(options);
  endings.push(() => started.stop());
  return started;
}

const many = () => batch(Array.from({ length: 50 }, () => increment(freshKey())));
const ONES = new Array<number>(50).fill(1);

function clientTls({ caFile, certFile, keyFile }: CertificateFiles) {
  return {
    ca: readFileSync(caFile),
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    checkServerIdentity: () => undefined,
  };
}

describe('sentinels and servers with passwords of their own', () => {
  const options = { password: PASSWORD, sentinelPassword: SENTINEL_PASSWORD };

  it.each([
    ['the sentinels', { auth }, /NOAUTH/],
    ['the servers', { sentinelAuth }, /NOAUTH/],
    ['the sentinels, which get that of the servers', { auth, sentinelAuth: auth }, /WRONGPASS/],
  ])('are not available without that of %s, and no password is told', async (_, given, reason) => {
    const { address } = await sentinels(options);
    const counters = runRedisCounters({ address, ...given });
    await eventually(() => expect(counters.add(many())).rejects.toThrow(reason));
    const told = JSON.stringify(counters.events);
    expect(told).not.toContain(PASSWORD);
    expect(told).not.toContain(SENTINEL_PASSWORD);
  });
});

describe('TLS', () => {
  let authority: Authority;
  beforeEach(() => {
    authority = createAuthority();
  });
  afterEach(() => rm(authority.directory, { recursive: true, force: true }));

  const mine = () => ({ ...authority.issue('client'), skipHostnameVerification: false });

  it('may be spoken to the servers alone', async () => {
    const tls = authority.issue('server', ['127.0.0.1']);
    const tlsClient = clientTls(authority.issue('tester'));
    const { address } = await sentinels({ tls, tlsClient });
    const counters = await connectRedisCounters({ address, tls: mine() });
    expect((await counters.add(many())).after).toEqual(ONES);
  });
});

describe('a cluster', () => {
  it('is found by any of its nodes that lives', async () => {
    const { address, masters } = await cluster({});
    const dead = { host: '127.0.0.1', port: 1 };
    const [known] = [...address.nodes].reverse();
    const nodes = [dead, known as typeof dead];
    const counters = await connectRedisCounters({ address: { kind: 'cluster', nodes } });
    expect((await counters.add(many())).after).toEqual(ONES);
    const [placed] = counters.events.filter(({ kind }) => kind === 'slots-changed');
    expect(placed).toMatchObject({
      nodes: masters.map(({ port }) => `127.0.0.1:${String(port)}`),
    });
  });

  it('that is none says so', async () => {
    const { servers } = await sentinels({});
    const address = {
      kind: 'cluster',
      nodes: [{ host: '127.0.0.1', port: servers[0].port }],
    } as const;
    const counters = runRedisCounters({ address });
    await eventually(() =>
      expect(counters.add(many())).rejects.toThrow(/cluster support disabled/),
    );
    // For each question that no node answers, so that the log can say how many there were.
    await eventually(() => {
      const unknown = counters.kinds().filter((kind) => kind === 'slots-unknown');
      expect(unknown.length).toBeGreaterThan(1);
    });
    expect(counters.states).toEqual([false]);
  });
});
