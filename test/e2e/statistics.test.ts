import { mkdtemp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { startRedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0).reverse()) await end();
});

const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 20 }
  - key: trial
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 1 }
  - key: path
    value: /cart
    descriptors:
      - key: verb
        rate_limit: { unit: day, requests_per_unit: 1000 }
  - key: open
    on_store_error: allow
    rate_limit: { unit: day, requests_per_unit: 100000 }
`;

/** A directory of rules, and a way to write them again. */
async function ruleFolder() {
  const root = await mkdtemp(join(tmpdir(), 'weir-statistics-'));
  ends.push(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'config'));
  // In one step: what is read half written counts as a load of its own.
  const write = async (text: string) => {
    await writeFile(join(root, 'draft'), text);
    await rename(join(root, 'draft'), join(root, 'config', 'shop.yaml'));
  };
  await write(RULES);
  return { root, write };
}

async function counters({ debug }: Service): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${debug}/stats?format=json`);
  return ((await response.json()) as { counters: Record<string, number> }).counters;
}

async function loads(service: Service, stat: 'success' | 'error', least: number): Promise<void> {
  await eventually(async () => {
    const all = await counters(service);
    expect(all[`ratelimit.service.config_load_${stat}`]).toBeGreaterThanOrEqual(least);
  });
}

describe('the statistics of the built service', () => {
  it('are exact through reloads and an outage of the store, by rule and by kind', async () => {
    const { root, write } = await ruleFolder();
    let redis = await startRedisServer();
    ends.push(() => redis.stop());
    const { port } = redis;
    const service = await startService({
      env: {
        RUNTIME_ROOT: root,
        BACKEND_TYPE: 'redis',
        REDIS_URL: `127.0.0.1:${String(port)}`,
        REDIS_TIMEOUT: '300ms',
      },
    });
    const statuses = { user: [] as number[], trial: [] as number[], open: [] as number[] };
    let allowed = 0;
    const load = async (times: number) => {
      for (let i = 0; i < times; i++) {
        const keys = ['user', 'trial', 'open'] as const;
        const answers = keys.map(async (key) => {
          const { status, body } = await ask(service, 'shop', `${key}=ann`);
          statuses[key].push(status);
          // Counted by the store, less than the whole limit remains.
          if (body.statuses?.[0]?.limitRemaining === 100_000) allowed += 1;
        });
        await Promise.all(answers);
      }
    };
    await load(15);
    for (let version = 2; version <= 4; version++) {
      const loading = load(10);
      await write(`${RULES}# ${String(version)}\n`);
      await loads(service, 'success', version);
      await loading;
    }
    await redis.kill();
    await load(20);
    redis = await startRedisServer({ port });
    await eventually(async () => {
      expect((await fetch(`${service.http}/healthcheck`)).status).toBe(200);
      await load(1);
      expect(statuses.user.at(-1)).toBe(200);
    });
    await load(25);

    const all = await counters(service);
    const asked = statuses.user.length;
    const of = (key: keyof typeof statuses, status: number) =>
      statuses[key].filter((one) => one === status).length;
    const stat = (key: string, name: string) =>
      all[`ratelimit.service.rate_limit.shop.${key}.${name}`] ?? 0;
    expect(of('user', 503)).toBeGreaterThan(0);
    expect(of('user', 429)).toBeGreaterThan(0);
    for (const key of ['user', 'trial', 'open'] as const) {
      expect([key, stat(key, 'total_hits')]).toEqual([key, asked]);
    }
    expect(stat('user', 'over_limit')).toBe(of('user', 429));
    expect(stat('user', 'within_limit')).toBe(of('user', 200));
    expect(stat('trial', 'over_limit')).toBe(stat('trial', 'shadow_mode'));
    expect(of('open', 200)).toBe(asked);
    const failed = of('user', 503) + of('trial', 503);
    const call = (name: string) => all[`ratelimit.service.call.should_rate_limit.${name}`] ?? 0;
    expect(call('redis_error') - call('answered_locally')).toBe(failed);
    expect(call('answered_locally')).toBe(allowed);
    expect(allowed).toBeGreaterThan(0);
  });
});
