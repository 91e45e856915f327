import { stopEnvoys } from '../support/edge/envoy';
import { eventually } from '../support/edge/eventually';
import type { Question } from '../support/edge/model-behind-envoy';
import { pauseProcess } from '../support/pause-process';
import { PROGRAMS } from '../support/edge/programs';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { stopServices } from '../support/edge/service';
import { startTokenStage, STREAM, type TokenStage } from '../support/edge/token-stage';
import { workersOf } from '../support/worker-processes';

const RULES = `
domain: llm
descriptors:
  - key: user
    rate_limit: { algorithm: in_flight, requests_per_unit: 1 }
  - key: user
    value: two
    rate_limit: { algorithm: in_flight, requests_per_unit: 2 }
`;
const CALLS = 'cluster.ratelimit.upstream_rq_active';

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

whereEnvoyIs('requests in flight behind Envoy 1.40', () => {
  let redis: RedisServer;
  let stage: TokenStage;
  beforeAll(async () => {
    redis = await startRedisServer();
    stage = await startTokenStage({ envoy: program ?? '', rules: RULES, redisPort: redis.port });
  });
  afterEach(() => {
    redis.resume();
  });
  afterAll(async () => {
    await stage.stop();
    await stopEnvoys();
    await stopServices();
    await redis.stop();
  });

  /** Asks, and leaves while Envoy waits for the service, once the call is there. */
  const askAndLeave = async (user: string, untilSent: () => Promise<void>) => {
    const client = new AbortController();
    const { signal } = client;
    const asked = stage.llm.ask({ words: 1 }, { user, signal }).catch(() => 'left');
    await eventually(untilSent);
    client.abort();
    expect(await asked).toBe('left');
    await eventually(async () => {
      expect(await stage.llm.counter(CALLS)).toBe(0);
    });
  };

  it('lets two of four slow requests in, and the next when they are done', async () => {
    const user = 'two';
    const slow = { words: 20, model: 'slow', ...STREAM };
    const asked = Array.from({ length: 4 }, () => stage.ask(slow, { user }));
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('x-ratelimit-limit')).toBe('2');
    expect(await stage.leftOnceSettled(user)).toBe(2);
    expect((await stage.ask(slow, { user })).status).toBe(200);
  });

  it.each<[string, Partial<Question>]>([
    ['an answer', {}],
    ['a 503', { model: 'broken' }],
    ['a stream that was cut', { model: 'cut', ...STREAM }],
  ])('frees the slot of %s', async (user, question) => {
    await stage.ask({ words: 40, ...question }, { user });
    expect(await stage.leftOnceSettled(user)).toBe(1);
  });

  it('keeps no slot of a client that left before the service read its call', async () => {
    const user = 'early';
    await stage.ask({ words: 1 }, { user });
    await stage.leftOnceSettled(user);
    const pids = [stage.service.child.pid ?? 0, ...workersOf(stage.service)];
    for (const pid of pids) pauseProcess(pid);
    await askAndLeave(user, async () => {
      expect(await stage.llm.counter(CALLS)).toBe(1);
    });
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    expect((await stage.ask({ words: 1 }, { user })).status).toBe(200);
  });

  it('keeps no slot of a client that left while the service waited for Redis', async () => {
    const user = 'late';
    await stage.ask({ words: 1 }, { user });
    await stage.leftOnceSettled(user);
    const calls = 'ratelimit_server.ShouldRateLimit.total_requests';
    const reserved = 'ratelimit.service.rate_limit.llm.user.reserved';
    const before = [await stage.statistic(calls), await stage.statistic(reserved)] as const;
    redis.pause();
    await askAndLeave(user, async () => {
      expect(await stage.statistic(calls)).toBe(before[0] + 1);
    });
    redis.resume();
    await eventually(async () => {
      expect(await stage.statistic(reserved)).toBeGreaterThan(before[1]);
      expect(await stage.leftOf(user)).toBe(1);
    });
    expect((await stage.ask({ words: 1 }, { user })).status).toBe(200);
  });
});
