import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';
import { startAdsServer, type AdsServer } from '../support/edge/xds-server';
import { deltaResponse, response, userLimit } from '../support/xds-messages';

jest.setTimeout(60_000);

const OVERLAY = (fields: string, domain = 'shop') =>
  `overlays:\n  - domain: "${domain}"\n    path: ["*"]\n    rate_limit: { ${fields} }\n`;
const GCRA = OVERLAY('algorithm: gcra, burst: 3');

let folder = '';
let server: AdsServer | undefined;
let redis: RedisServer | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-overlays-'));
  mkdirSync(join(folder, 'rules'));
});
afterEach(async () => {
  await stopServices();
  server?.stop();
  server = undefined;
  await redis?.stop();
  redis = undefined;
  rmSync(folder, { recursive: true });
});

const writeOverlays = (text: string) => {
  writeFileSync(join(folder, 'overlays.yaml'), text);
};
const start = (env: Readonly<Record<string, string>>) =>
  startService({
    ...{ waitUntilUp: false },
    env: {
      ...{ RULE_OVERLAYS: join(folder, 'overlays.yaml'), BACKEND_TYPE: 'memory' },
      ...{ LOG_LEVEL: 'info', ...env },
    },
  });
const rulesOf = async ({ debug }: Service) => (await fetch(`${debug}/rlconfig`)).text();
const statisticsOf = async ({ debug }: Service) => (await fetch(`${debug}/stats`)).text();

const PLAIN = 'shop.user: unit=HOUR requests_per_unit=9, shadow_mode: false, quota_mode: false';
const WITH_GCRA = `${PLAIN}, limit: 9 per hour, bursts of 3, algorithm, burst by the overlay at overlays.yaml:2\n`;

const SOURCES = {
  files: async () => {
    const rule = '{ key: user, rate_limit: { unit: hour, requests_per_unit: 9 } }';
    const [one, two] = [join(folder, 'rules/one.yaml'), join(folder, 'rules/two.yaml')];
    writeFileSync(one, `domain: shop\ndescriptors: [${rule}]\n`);
    const service = await start({ RUNTIME_ROOT: join(folder, 'rules'), RUNTIME_APPDIRECTORY: '' });
    return {
      service,
      addDomain: () => {
        writeFileSync(two, `domain: other\ndescriptors: [${rule}]\n`);
      },
      expectAccepted: () => Promise.resolve(),
    };
  },
  'state of the world': () =>
    managed('GRPC_XDS_SOTW', (version, domains) =>
      response(
        version,
        version,
        domains.map((domain) => userLimit(domain, 9)),
      ),
    ),
  delta: () =>
    managed('GRPC_XDS_DELTA', (version, domains) =>
      deltaResponse(
        version,
        version,
        domains.map((domain) => userLimit(domain, 9)),
      ),
    ),
};

async function managed(
  type: string,
  rules: (version: string, domains: readonly string[]) => object,
) {
  server = await startAdsServer();
  const { target } = server;
  const service = await start({ CONFIG_TYPE: type, CONFIG_GRPC_XDS_SERVER_URL: target });
  const stream = await server.opened(1);
  stream.send(rules('v1', ['shop']));
  return {
    service,
    addDomain: () => {
      stream.send(rules('v2', ['shop', 'other']));
    },
    /** What it was told of the rules: no NACK. */
    async expectAccepted(requests: number) {
      await stream.requested(requests);
      expect(stream.requests.filter(({ errorDetail }) => errorDetail)).toEqual([]);
    },
  };
}

describe.each(Object.keys(SOURCES) as (keyof typeof SOURCES)[])('rules by %s', (source) => {
  it('get what overlays give, follow them, and keep the last good ones', async () => {
    writeOverlays(GCRA);
    const { service, addDomain, expectAccepted } = await SOURCES[source]();
    await eventually(async () => {
      expect(await rulesOf(service)).toBe(WITH_GCRA);
    });
    // The first rules in force had them.
    expect(service.output().match(/msg="loaded the rules"/g)).toHaveLength(1);
    for (let times = 0; times < 3; times += 1)
      expect((await ask(service, 'shop', 'user=ann')).status).toBe(200);
    expect((await ask(service, 'shop', 'user=ann')).status).toBe(429);

    const before = await statisticsOf(service);
    expect(before).toContain('ratelimit.overlays.config_load_success: 1\n');
    writeOverlays(OVERLAY('algorithm: gcar'));
    await eventually(() => {
      expect(service.output()).toContain('overlays not loaded, the last valid ones stay in force');
    });
    expect(service.output()).toMatch(/a mistake in the overlays.* line=4 .*did you mean/);
    expect(await statisticsOf(service)).toContain('weir.overlays_load_failing: 1\n');
    // Rules that come meanwhile get the last good ones.
    addDomain();
    await eventually(async () => {
      expect(await rulesOf(service)).toMatch(
        /^other\.user: .*9, shadow_mode: false, quota_mode: false$/m,
      );
    });
    expect(await rulesOf(service)).toContain(WITH_GCRA);

    writeOverlays(OVERLAY('algorithm: sliding_window, burst: 3', '*'));
    await eventually(async () => {
      const rules = await rulesOf(service);
      expect(rules).toMatch(/^shop\.user: .* algorithm by the overlay at overlays\.yaml:2$/m);
      expect(rules).toMatch(/^other\.user: .* algorithm by the overlay at overlays\.yaml:2$/m);
    });
    await eventually(() => {
      expect(service.output()).toContain('overlays loaded successfully again');
    });
    expect(service.output()).toMatch(
      /the algorithm of rules has changed, their counters begin anew.*rules=2/,
    );
    expect(service.output()).toMatch(/a warning about the rules.*this rule cannot take burst/);
    const after = await statisticsOf(service);
    expect(after).toContain('weir.overlay_fields_refused: 2\n');
    expect(after).toContain('weir.overlays_load_failing: 0\n');
    await expectAccepted(3);
  });
});

it('serves rules as they are where overlays have a mistake from the start, and says so', async () => {
  writeOverlays('overlays: [{}]\n');
  const { service } = await SOURCES.files();
  await eventually(async () => {
    expect(await rulesOf(service)).toBe(`${PLAIN}\n`);
  });
  expect(service.output()).toContain('overlays not loaded, none are in force yet');
  writeOverlays(GCRA);
  await eventually(async () => {
    expect(await rulesOf(service)).toBe(WITH_GCRA);
  });
  const { body } = await ask(service, 'shop', 'user=ann');
  expect(body).toMatchObject({ statuses: [{ limitRemaining: 2 }] });
});

it('gives overlays to the rules of each worker', async () => {
  writeOverlays(GCRA);
  const rule = '{ key: user, rate_limit: { unit: hour, requests_per_unit: 9 } }';
  writeFileSync(join(folder, 'rules/one.yaml'), `domain: shop\ndescriptors: [${rule}]\n`);
  redis = await startRedisServer();
  const service = await start({
    ...{ RUNTIME_ROOT: join(folder, 'rules'), RUNTIME_APPDIRECTORY: '', WORKERS: '2' },
    ...{ BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(redis.port)}` },
  });
  await eventually(async () => {
    expect(await rulesOf(service)).toBe(WITH_GCRA);
    const { body } = await ask(service, 'shop', 'user=ann');
    expect(body).toMatchObject({ statuses: [{ currentLimit: { requestsPerUnit: 9 } }] });
  });
});
