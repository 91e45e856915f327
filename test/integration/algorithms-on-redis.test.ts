import { chooseCounters } from '../../src/app/actors/store';
import { readSettings } from '../../src/settings/read-settings';
import { startReplay, type Replayer } from '../parity/replayer';
import { startRedisServer, type RedisServer } from '../support/redis-server';
import { silentLogger } from '../support/silent-logger';

const RULES = `
domain: d
descriptors:
  - key: gcra
    rate_limit: {algorithm: gcra, unit: minute, requests_per_unit: 5, burst: 2}
  - key: sliding
    rate_limit: {algorithm: sliding_window, unit: hour, requests_per_unit: 2}
  - key: guarded
    rate_limit: {charge_denied: false, unit: year, requests_per_unit: 2}
`;

interface Status {
  readonly code: string;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: string;
}

/** Asks for one descriptor so many times in one request, which is decided at one moment. */
async function ask(service: Replayer, key: string, times = 1) {
  const descriptor = { entries: [{ key, value: 'v' }], hitsAddend: 1 };
  const descriptors = new Array<typeof descriptor>(times).fill(descriptor);
  const request = { domain: 'd', descriptors };
  const { response } = await service.perform({ at: 0, request, keys: {}, ttl: {} });
  const { statuses } = response as { statuses: readonly Status[] };
  return statuses.map(({ code, limitRemaining = 0, durationUntilReset = '' }) => ({
    code,
    remaining: limitRemaining,
    reset: parseInt(durationUntilReset, 10),
  }));
}

describe.each(['memory', 'redis'])('the whole service, counting by algorithms in %s', (backend) => {
  let server: RedisServer;
  let service: Replayer;
  beforeAll(async () => {
    server = await startRedisServer();
    const settings = {
      BACKEND_TYPE: backend,
      DISABLE_STATS: 'true',
      ...(backend === 'redis' && { REDIS_URL: `127.0.0.1:${String(server.port)}` }),
    };
    const read = readSettings(settings);
    if (!read.ok) throw new Error(read.problems.join('\n'));
    service = await startReplay(
      {
        name: '',
        settings,
        rules: { 'rules.yaml': RULES },
        steps: [{ at: Date.now() / 1_000, keys: {}, ttl: {} }],
      },
      (registry, clock) =>
        Promise.resolve(
          chooseCounters(read.settings, {
            clock,
            monotonicMs: () => performance.now(),
            random: Math.random,
            statistics: registry,
            logger: silentLogger,
          }),
        ),
    );
  });
  afterAll(async () => {
    await service.close();
    await server.stop();
  });

  it('lets a burst through, then says when the next hit fits', async () => {
    expect(await ask(service, 'gcra', 3)).toEqual([
      { code: 'OK', remaining: 1, reset: 12 },
      { code: 'OK', remaining: 0, reset: 24 },
      { code: 'OVER_LIMIT', remaining: 0, reset: 12 },
    ]);
    expect(await ask(service, 'gcra')).toMatchObject([{ code: 'OVER_LIMIT', remaining: 0 }]);
  });

  it.each(['sliding', 'guarded'])(
    'counts the limit of %s from one request to the next',
    async (key) => {
      const codes = [];
      for (let n = 0; n < 3; n += 1) codes.push(...(await ask(service, key)));
      expect(codes).toMatchObject([
        { code: 'OK', remaining: 1 },
        { code: 'OK', remaining: 0 },
        { code: 'OVER_LIMIT', remaining: 0 },
      ]);
    },
  );
});
