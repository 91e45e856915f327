import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { startAlgorithmService, type AlgorithmService } from '../support/algorithm-service';
import { eventually } from '../support/edge/eventually';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

const START = 1_700_000_040;
const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

const rulesOf = (limits: Readonly<Record<string, string>>): string =>
  `domain: d\ndescriptors:\n${Object.entries(limits)
    .map(([key, limit]) => `  - key: ${key}\n    rate_limit: {${limit}}\n`)
    .join('')}`;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function startServer(options?: Parameters<typeof startRedisServer>[0]): Promise<RedisServer> {
  const server = await startRedisServer(options);
  ends.push(() => server.stop());
  return server;
}

async function startAlgorithms(
  options: Partial<Parameters<typeof startAlgorithmService>[0]>,
): Promise<AlgorithmService> {
  const service = await startAlgorithmService({
    rules: '',
    startSeconds: START,
    monotonicMs: () => performance.now(),
    ...options,
  });
  ends.push(() => service.close());
  return service;
}

const isOk = ({ code }: { readonly code: string }): boolean => code === 'OK';

it('counts budgets by the clock of Redis', async () => {
  let seconds = START;
  const { port } = await startServer();
  const service = await startAlgorithms({
    rules: `domain: d
descriptors:
  - key: a
    rate_limits: [{ unit: hour, requests_per_unit: 60, algorithm: gcra, burst: 1 }]
    reserve: { lease: 10m }
`,
    redis: { port, readSeconds: () => seconds },
  });
  await service.ask('a', 'x');
  await service.ask('a', 'x');
  seconds += 45;
  expect(await service.ask('a', 'x')).toEqual([{ code: 'OVER_LIMIT', remaining: 0, reset: 15 }]);
});

describe.each(['memory', 'redis'])(
  'rules that change while the service counts in %s',
  (backend) => {
    let seconds = START;
    const startOn = async (limits: Readonly<Record<string, string>>) => {
      seconds = START;
      const redis =
        backend === 'memory'
          ? undefined
          : { port: (await startServer()).port, readSeconds: () => seconds };
      const service = await startAlgorithms({ rules: rulesOf(limits), redis });
      const at = (after: number): void => {
        seconds = START + after;
        service.setClock(seconds);
      };
      const reload = async (next: Readonly<Record<string, string>>) => {
        const files = { 'rules.yaml': rulesOf(next) };
        return (await service.perform({ at: 0, reload: files, keys: {}, ttl: {} })).loads;
      };
      return { service, at, reload };
    };

    it('keep the hits in use under another limit and another burst (G5)', async () => {
      const before = { k: 'algorithm: gcra, unit: minute, requests_per_unit: 60, burst: 10' };
      const after = { k: 'algorithm: gcra, unit: minute, requests_per_unit: 120, burst: 5' };
      const { service, at, reload } = await startOn(before);
      const row = async (second: number, hits: number, times = 1) => {
        at(second);
        return (await service.ask('k', 'v', hits, times))?.at(-1);
      };
      expect(await row(0, 1, 8)).toEqual({ code: 'OK', remaining: 2, reset: 8 });
      expect(await reload(after)).toBe('success');
      expect(await row(0, 0)).toEqual({ code: 'OVER_LIMIT', remaining: 0, reset: 2 });
      expect(await row(1, 1)).toEqual({ code: 'OVER_LIMIT', remaining: 0, reset: 1 });
      expect(await row(1.5, 0)).toEqual({ code: 'OK', remaining: 0, reset: 3 });
      expect(await row(2, 1)).toEqual({ code: 'OK', remaining: 0, reset: 3 });
      expect(await reload(before)).toBe('success');
      expect(await row(2, 0)).toEqual({ code: 'OK', remaining: 5, reset: 5 });
      expect(await row(10, 0)).toEqual({ code: 'OK', remaining: 10, reset: 0 });
    });

    it('keep the hits of a sliding window, and start anew under another unit or algorithm', async () => {
      const limit = (text: string) => ({ k: `requests_per_unit: ${text}` });
      const { service, reload } = await startOn(limit('10, unit: hour, algorithm: sliding_window'));
      const remaining = async (hits: number) => (await service.ask('k', 'v', hits))?.[0]?.remaining;
      expect(await remaining(4)).toBe(6);
      await reload(limit('7, unit: hour, algorithm: sliding_window'));
      expect(await remaining(0)).toBe(3);
      await reload(limit('7, unit: day, algorithm: sliding_window'));
      expect(await remaining(0)).toBe(7);
      await reload(limit('7, unit: hour, algorithm: gcra'));
      expect(await remaining(0)).toBe(7);
    });

    it.each([
      ['a zone that does not exist', 'unit: day, calendar: true, time_zone: Europe/Belrin'],
      ['a burst of 0', 'unit: minute, algorithm: gcra, burst: 0'],
      ['a limit of 50,000,001', 'unit: minute, algorithm: gcra, requests_per_unit: 50000001'],
      ['a multiplier of 0', 'unit: minute, unit_multiplier: 0'],
    ])('stay when the next ones have %s', async (_, limit) => {
      const good = { k: 'algorithm: gcra, unit: hour, requests_per_unit: 10' };
      const { service, reload } = await startOn(good);
      await service.ask('k', 'v', 4);
      const text = limit.includes('requests_per_unit') ? limit : `${limit}, requests_per_unit: 10`;
      expect(await reload({ k: text })).toBe('error');
      expect(await service.ask('k', 'v', 0)).toMatchObject([{ code: 'OK', remaining: 6 }]);
    });
  },
);

it.each([
  ['gcra', 'g', 10],
  ['sliding_window', 's', 100],
  ['sliding_window', 'l', 10],
])('a value of %s (%s) that is not ours fails that key alone', async (name, end, limit) => {
  const server = await startServer();
  const rules = rulesOf({
    k: `algorithm: ${name}, unit: hour, requests_per_unit: ${String(limit)}`,
  });
  const service = await startAlgorithms({ rules, redis: server });
  const key = `d_k_odd_3600s~${end}1`;
  for (const value of ['text', '1', '1 2 3 4', '-1 5', '1e3 5 5', '']) {
    await server.client.set(key, value);
    const good = `good${value}`;
    const [odd, other] = await Promise.all([service.ask('k', 'odd'), service.ask('k', good)]);
    expect([odd, other]).toMatchObject([undefined, [{ code: 'OK', remaining: limit - 1 }]]);
    expect(await server.client.get(key)).toBe(value);
  }
  await server.client.del(key);
  expect(await service.ask('k', 'odd')).toMatchObject([{ code: 'OK', remaining: limit - 1 }]);
});

it.each([-10, 10])(
  'a clock of Redis that jumps by %d s admits no more than its bound',
  async (jump) => {
    let seconds = START;
    let [serial, base] = [0, START];
    const { port } = await startServer();
    const rules = rulesOf({
      bucket: 'algorithm: gcra, unit: minute, unit_multiplier: 5, requests_per_unit: 30, burst: 4',
      sliding: 'algorithm: sliding_window, unit: minute, unit_multiplier: 5, requests_per_unit: 6',
    });
    const service = await startAlgorithms({ rules, redis: { port, readSeconds: () => seconds } });
    const STEPS = 12;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: STEPS }),
        fc.array(fc.integer({ min: 0, max: 8_000 }), { minLength: STEPS, maxLength: STEPS }),
        async (jumpAt, pauses) => {
          serial += 1;
          base += 3_600;
          let [elapsedMs, bucket] = [0, 0];
          const windows = new Map<number, number>();
          for (const [step, pause] of pauses.entries()) {
            elapsedMs += pause;
            seconds = base + (elapsedMs + (step >= jumpAt ? jump * 1_000 : 0)) / 1_000;
            const [taken, slid] = await Promise.all(
              ['bucket', 'sliding'].map((key) => service.ask(key, `v${String(serial)}`, 1, 6)),
            );
            bucket += taken?.filter(isOk).length ?? NaN;
            const window = Math.floor(seconds / 300);
            windows.set(window, (windows.get(window) ?? 0) + (slid?.filter(isOk).length ?? NaN));
          }
          // Ahead: what drains in the jump, once. Back: the counter stands still, and nothing drains.
          const more = jump > 0 ? Math.ceil((30 * jump) / 300) : 0;
          expect(bucket).toBeLessThanOrEqual(4 + Math.floor((30 * elapsedMs) / 300_000) + more);
          expect(Math.max(...windows.values())).toBeLessThanOrEqual(6);
        },
      ),
      { numRuns: 10 },
    );
  },
);

describe.each(['gcra', 'sliding_window'])(
  'Redis killed between a look and a charge (%s)',
  (name) => {
    const rules = rulesOf({ k: `algorithm: ${name}, unit: hour, requests_per_unit: 10` });
    let proxy: TcpProxy;
    let server: RedisServer;
    let service: AlgorithmService;
    let restart: () => Promise<RedisServer>;
    beforeEach(async () => {
      const directory = await mkdtemp(join(tmpdir(), 'weir-redis-'));
      ends.push(() => rm(directory, { recursive: true, force: true }));
      const settings = [
        ['appendonly', 'yes'],
        ['appendfsync', 'always'],
      ];
      server = await startServer({ directory, settings });
      restart = () => startServer({ directory, settings, port: server.port });
      proxy = await startTcpProxy(server.port);
      ends.push(() => proxy.close());
      service = await startAlgorithms({ rules, redis: { port: proxy.port } });
      expect(await service.ask('k', 'v', 0)).toMatchObject([{ code: 'OK', remaining: 10 }]);
    });

    const unknown = () => service.registry.counter(UNKNOWN).value;

    it('counts a charge once that was done and not answered', async () => {
      proxy.behaviour.swallow = 'answers';
      const charge = service.ask('k', 'v', 4);
      await eventually(async () => {
        expect(await server.client.dbsize()).toBe(1);
      });
      await server.kill();
      proxy.reset();
      expect(await charge).toBeUndefined();
      expect(unknown()).toBe(1);
      proxy.behaviour.swallow = 'nothing';
      await restart();
      await eventually(async () => {
        expect(await service.ask('k', 'v', 0)).toMatchObject([{ code: 'OK', remaining: 6 }]);
      });
    });

    it('does not count a charge that never reached it', async () => {
      proxy.behaviour.swallow = 'requests';
      const charge = service.ask('k', 'v', 4);
      await eventually(() => {
        expect(proxy.swallowed).toBeGreaterThan(0);
      });
      await server.kill();
      proxy.reset();
      expect(await charge).toBeUndefined();
      expect(unknown()).toBe(1);
      proxy.behaviour.swallow = 'nothing';
      await restart();
      await eventually(async () => {
        expect(await service.ask('k', 'v', 0)).toMatchObject([{ code: 'OK', remaining: 10 }]);
      });
    });
  },
);
