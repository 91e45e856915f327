import { StoreError } from '../../src/core/errors';
import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { eventually } from '../support/edge/eventually';
import {
  runRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';
const TIMEOUT_MS = 500;

let server: RedisServer;
let proxy: TcpProxy;
beforeEach(async () => {
  server = await startRedisServer();
  proxy = await startTcpProxy(server.port);
});
afterEach(async () => {
  await stopRedisCounters();
  await proxy.close();
  await server.stop();
});

async function connect(more?: Partial<RedisCountersOptions>): Promise<RunningRedisCounters> {
  const counters = runRedisCounters({
    address: { kind: 'tcp', host: '127.0.0.1', port: proxy.port },
    timeoutMs: TIMEOUT_MS,
    ...more,
  });
  await counters.untilConnected();
  return counters;
}

const add = (counters: RunningRedisCounters, key: string) =>
  counters.add(batch([increment(key)])).catch((error: unknown) => error as StoreError);
const unknown = (counters: RunningRedisCounters) => counters.statistics.get(UNKNOWN) ?? 0;

describe('a batch that was written and not answered', () => {
  it.each([
    [
      'because the connection was reset',
      () => {
        proxy.resetInsteadOfAnswer();
      },
      '1',
      true,
    ],
    [
      'because the answer was cut off',
      () => {
        proxy.behaviour.cutNextAnswer = true;
      },
      '1',
      true,
    ],
    [
      'because the answer was lost',
      () => {
        proxy.behaviour.swallow = 'answers';
      },
      '1',
      true,
    ],
    [
      'because it was lost itself',
      () => {
        proxy.behaviour.swallow = 'requests';
      },
      null,
      true,
    ],
    [
      'by plain commands',
      () => {
        proxy.resetInsteadOfAnswer();
      },
      '1',
      false,
    ],
  ])('%s fails, is not sent again and is counted', async (_, fault, count, scripts) => {
    const counters = await connect({ scripts });
    const key = freshKey();
    fault();
    expect(await add(counters, key)).toBeInstanceOf(StoreError);
    expect(unknown(counters)).toBe(1);
    proxy.behaviour.swallow = 'nothing';
    await eventually(() => counters.add(batch([increment(freshKey())])));
    expect(await server.client.get(key)).toBe(count);
    expect(unknown(counters)).toBe(1);
  });

  it('is counted once for each batch that waited for the connection', async () => {
    const counters = await connect();
    proxy.behaviour.swallow = 'answers';
    const key = freshKey();
    await Promise.all([add(counters, key), add(counters, key), add(counters, key)]);
    expect(unknown(counters)).toBe(3);
    expect(await server.client.get(key)).toBe('3');
  });
});

describe('what is known is not counted as unknown', () => {
  it('an answer that is an error', async () => {
    const counters = await connect();
    await server.client.config('SET', 'maxmemory', '100kb');
    expect(await add(counters, freshKey())).toBeInstanceOf(StoreError);
    expect(unknown(counters)).toBe(0);
  });

  it('a call without a connection', async () => {
    const counters = await connect();
    await server.kill();
    await eventually(async () => {
      expect(((await add(counters, freshKey())) as StoreError).message).toMatch(/is not available/);
    });
    const before = unknown(counters);
    await add(counters, freshKey());
    expect(unknown(counters)).toBe(before);
  });
});
