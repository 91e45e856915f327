import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { filter, firstValueFrom } from 'rxjs';
import { runMemcachedCounters, untilAdded } from '../support/memcached-counters';
import { describeWithStores, nearMemcached } from '../support/near-stores';
import { batch, describeCounters, freshKey, type CountersUnderTest } from './counters.contract';

/** Several nodes and TLS: test/integration/counters-on-memcached.test.ts. */
async function createUnderTest(): Promise<CountersUnderTest> {
  const memcached = await nearMemcached(batch([]).nowSeconds);
  const counters = runMemcachedCounters([memcached.address], {
    maxIdleConnections: 1,
    timeoutMs: 10_000,
  });
  await counters.untilConnected();
  return {
    counters,
    async read(key) {
      await untilAdded(counters, key);
      return memcached.read(key);
    },
    stop: () => counters.stop(),
  };
}

describeWithStores('one memcached', () => {
  describeCounters('in the background', createUnderTest, { takesOddKeys: false });

  it('answers for every key as soon as it says that it is connected, whichever connection has it', async () => {
    const memcached = await nearMemcached(batch([]).nowSeconds);
    const counters = runMemcachedCounters([memcached.address], { maxIdleConnections: 8 });
    await firstValueFrom(counters.connected$.pipe(filter(Boolean)));
    const keys = Array.from({ length: 32 }, freshKey);
    const readings = await Promise.all(keys.map((key) => counters.peek(key)));
    await counters.stop();
    expect(readings.filter(({ error }) => error !== undefined)).toEqual([]);
  });
});

it('is connected with what a node gives it, when the node refuses one of its connections', async () => {
  let accepted = 0;
  const node = createServer((socket) => {
    accepted += 1;
    if (accepted > 1) socket.destroy();
    else socket.on('data', () => socket.write('VERSION 1.6.0\r\n'));
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  const counters = runMemcachedCounters([{ host: '127.0.0.1', port }], { maxIdleConnections: 2 });
  await firstValueFrom(counters.connected$.pipe(filter(Boolean)));
  await counters.stop();
  node.close();
  expect(counters.kinds()).toEqual(expect.arrayContaining(['connected', 'unreachable']));
}, 5_000);
