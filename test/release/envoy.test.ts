import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startEnvoy, stopEnvoys, type Envoy } from '../support/edge/envoy';
import { FILTER_COUNTERS, type EnvoyOptions, type EnvoyTls } from '../support/envoy-config';
import { createAuthority, type Authority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { flood } from '../support/edge/flood';
import { pauseProcess } from '../support/pause-process';
import { PROGRAMS } from '../support/edge/programs';
import { startService, stopServices, type Service } from '../support/edge/service';
import { workersOf } from '../support/worker-processes';

const RULES = `
domain: edge
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 1000000 }
  - key: user
    value: few
    rate_limit: { unit: hour, requests_per_unit: 2 }
`;
const SERVER_NAME = 'rls.test';
const MANY = { 'x-user': 'many' };
const LIMITED = '1000000, 1000000;w=3600';

/** The rules and the `rate_limits` of a route below "Two limits for each user". */
function readTwoLimits(): readonly [rules: string, actions: readonly object[]] {
  const page = readFileSync(join(__dirname, '../../docs/rules.md'), 'utf8');
  const [, section = ''] = /^## Two limits for each user\n([^]*?)^## /m.exec(page) ?? [];
  const [, rules = ''] = /^```yaml\n([^]*?)^```/m.exec(section) ?? [];
  const [, route = ''] = /^```\n(rate_limits:[^]*?)^```/m.exec(section) ?? [];
  return [rules, (parse(route) as { rate_limits: object[] }).rate_limits];
}

/** The `rate_limits` below "What is sent". */
function readPathAlone(): readonly object[] {
  const page = readFileSync(join(__dirname, '../../docs/gateways/README.md'), 'utf8');
  const [, section = ''] = page.split('\n## What is sent\n');
  const [, block = ''] = /^```yaml\n([^]*?)^```/m.exec(section) ?? [];
  return (parse(block) as { rate_limits: object[] }).rate_limits;
}

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

whereEnvoyIs('Envoy 1.40', () => {
  let root: string;
  let authority: Authority;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'weir-envoy-'));
    mkdirSync(join(root, 'config'));
    writeFileSync(join(root, 'config/edge.yaml'), RULES);
    authority = createAuthority();
  });
  afterAll(() => {
    rmSync(root, { recursive: true });
    rmSync(authority.directory, { recursive: true });
  });
  afterEach(async () => {
    await stopEnvoys();
    await stopServices();
  });

  const serve = (env: Readonly<Record<string, string>> = {}) =>
    startService({ env: { GRPC_TRANSPORT: 'wire', RUNTIME_ROOT: root, ...env } });
  const start = (service: Service, options: Partial<EnvoyOptions> = {}) =>
    startEnvoy(program ?? '', { service: service.grpc, ...options });
  const errorsOf = (envoy: Envoy) => envoy.counter(`${FILTER_COUNTERS}.error`);

  const expectLimits = async (envoy: Envoy) => {
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await envoy.get({ 'x-user': 'few' }));
    expect(answers).toEqual([
      { status: 200, limit: '2, 2;w=3600', remaining: '1' },
      { status: 200, limit: '2, 2;w=3600', remaining: '0' },
      { status: 429, limit: '2, 2;w=3600', remaining: '0' },
    ]);
    expect(await errorsOf(envoy)).toBe(0);
  };

  it.each<[string, Partial<EnvoyOptions>]>([
    ['google_grpc', { client: 'google_grpc' }],
    ['a header table of 0 octets', { headerTableSize: 0 }],
  ])('limits by %s', async (_how, options) => {
    await expectLimits(await start(await serve(), options));
  });

  it('refuses a user by each of the two limits of docs/rules.md, by the actions of the page', async () => {
    const [rules, actions] = readTwoLimits();
    const write = (text: string) => {
      writeFileSync(join(root, 'config/api.yaml'), text);
    };
    write(rules.replace('requests_per_unit: 1000 ', 'requests_per_unit: 2 '));
    const envoy = await start(await serve(), { domain: 'api', rateLimits: actions });
    const hourly = '2, 10;w=1, 2;w=3600';
    for (const [status, remaining] of [
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ] as const)
      expect(await envoy.get({ 'x-user': 'ann' })).toEqual({ status, limit: hourly, remaining });

    write(rules.replace('requests_per_unit: 10 ', 'requests_per_unit: 1 '));
    await eventually(async () => {
      const { status, limit } = await envoy.get({ 'x-user': 'bob' });
      expect([status, limit]).toEqual([429, '1, 1;w=1, 1000;w=3600']);
    });
    expect((await envoy.get({ 'x-user': 'eve' })).status).toBe(200);
    expect(await errorsOf(envoy)).toBe(0);
  });

  it('counts a path with and without its query as one, by the actions of docs/gateways', async () => {
    const rule = '{ key: path, value: /a, rate_limit: { unit: day, requests_per_unit: 1 } }';
    writeFileSync(join(root, 'config/paths.yaml'), `domain: paths\ndescriptors: [${rule}]\n`);
    const service = await serve();
    const statusesOf = async (rateLimits: readonly object[]) => {
      const envoy = await start(service, { domain: 'paths', rateLimits });
      const statuses = [];
      for (const path of ['/a', '/a', '/a?x=1', '/a?y'])
        statuses.push((await envoy.get({}, path)).status);
      return statuses;
    };
    expect(await statusesOf(readPathAlone())).toEqual([200, 429, 429, 429]);
    const wholePath = { request_headers: { header_name: ':path', descriptor_key: 'path' } };
    expect(await statusesOf([{ actions: [wholePath] }])).toEqual([429, 429, 200, 200]);
  });

  describe('over TLS', () => {
    const tlsEnv = (): Record<string, string> => {
      const { certFile, keyFile } = authority.issue(SERVER_NAME, [SERVER_NAME]);
      return {
        GRPC_SERVER_USE_TLS: 'true',
        GRPC_SERVER_TLS_CERT: certFile,
        GRPC_SERVER_TLS_KEY: keyFile,
      };
    };
    const tls = (client?: EnvoyTls['client']): EnvoyTls => ({
      caFile: authority.caFile,
      serverName: SERVER_NAME,
      client,
    });

    describe.each(['envoy_grpc', 'google_grpc'] as const)('by %s', (client) => {
      it('limits without a client certificate', async () => {
        await expectLimits(await start(await serve(tlsEnv()), { client, tls: tls() }));
      });

      it('limits with one, and only with one of the right name, where it is asked for', async () => {
        const service = await serve({
          ...tlsEnv(),
          GRPC_CLIENT_TLS_CACERT: authority.caFile,
          GRPC_CLIENT_TLS_SAN: 'edge.test',
        });
        const edge = authority.issue('edge.test', ['edge.test']);
        const other = authority.issue('other.test', ['other.test']);
        await expectLimits(await start(service, { client, tls: tls(edge) }));
        for (const wrong of [undefined, other]) {
          const refused = await start(service, { client, tls: tls(wrong), denyOnFailure: true });
          expect((await refused.get(MANY)).status).toBe(500);
          expect(await errorsOf(refused)).toBe(1);
          if (client === 'envoy_grpc') {
            expect(await refused.counter('cluster.ratelimit.upstream_rq_200')).toBe(0);
          }
        }
      });
    });
  });

  it('lets requests pass while the service hangs, and limits again on the same connection', async () => {
    const service = await serve();
    const envoy = await start(service, { timeoutMs: 20 });
    await eventually(async () => {
      expect((await envoy.get(MANY)).limit).toBe(LIMITED);
    });
    const pids = [service.child.pid ?? 0, ...workersOf(service)];
    for (const pid of pids) pauseProcess(pid);
    const hung = await Promise.all(Array.from({ length: 200 }, () => envoy.get(MANY)));
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    expect(new Set(hung.map(({ status, limit }) => `${String(status)} ${String(limit)}`))).toEqual(
      new Set(['200 null']),
    );
    expect(await envoy.counter(`${FILTER_COUNTERS}.failure_mode_allowed`)).toBeGreaterThan(199);
    await eventually(async () => {
      expect((await envoy.get(MANY)).limit).toBe(LIMITED);
    });
    expect(await envoy.counter('cluster.ratelimit.upstream_cx_total')).toBe(1);
  });

  it.each(['envoy_grpc', 'google_grpc'] as const)(
    'loses no call of %s when connections come of age',
    async (client) => {
      const envoy = await start(await serve({ GRPC_MAX_CONNECTION_AGE: '1s' }), { client });
      const requests = flood(envoy, 4, MANY);
      await eventually(
        async () => {
          const opened = await envoy.counter('cluster.ratelimit.upstream_cx_total');
          if (client === 'envoy_grpc') expect(opened).toBeGreaterThan(3);
          else expect(requests.count()).toBeGreaterThan(500);
        },
        { everyMs: 100 },
      );
      const answers = await requests.stop();
      expect(answers.filter(({ limit }) => limit !== LIMITED)).toEqual([]);
      expect(await errorsOf(envoy)).toBe(0);
      report(`age rotation, ${client}`, answers.length);
    },
  );

  it('keeps a connection alive by its PINGs', async () => {
    const envoy = await start(await serve(), { keepaliveMs: 100 });
    expect((await envoy.get(MANY)).limit).toBe(LIMITED);
    const received = () => envoy.counter('cluster.ratelimit.upstream_cx_rx_bytes_total');
    const before = await received();
    // Twenty answers to its PINGs, each a frame of 17 octets.
    await eventually(
      async () => {
        expect(await received()).toBeGreaterThan(before + 20 * 17);
      },
      { everyMs: 100 },
    );
    expect((await envoy.get(MANY)).limit).toBe(LIMITED);
    expect(await envoy.counter('cluster.ratelimit.upstream_cx_total')).toBe(1);
    expect(await envoy.counter('cluster.ratelimit.http2.keepalive_timeout')).toBe(0);
  });

  it('loses no call that was sent before it saw that the service stops', async () => {
    const service = await serve();
    const envoy = await start(service);
    const requests = flood(envoy, 8, MANY);
    await eventually(() => {
      expect(requests.count()).toBeGreaterThan(200);
    });
    expect(await service.stop()).toBe(0);
    const answers = await requests.stop();
    const limited = answers.filter(({ limit }) => limit === LIMITED).length;
    const [answered, reset, cut] = await Promise.all([
      envoy.counter('cluster.ratelimit.upstream_rq_200'),
      envoy.counter('cluster.ratelimit.upstream_rq_rx_reset'),
      envoy.counter('cluster.ratelimit.upstream_cx_destroy_with_active_rq'),
    ]);
    report('drain', { requests: answers.length, limited, answered, reset, cut });
    // Calls that found no connection any more are not among those that reached the service.
    expect({ answered, reset, cut }).toEqual({ answered: limited, reset: 0, cut: 0 });
  });
});

function report(what: string, figures: unknown): void {
  console.info(what, figures);
}
