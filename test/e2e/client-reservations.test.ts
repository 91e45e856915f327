import { createRateLimiter } from '../../src/client';
import { createTemporaryDirectory } from '../support/rule-directory';
import { startTcpProxy } from '../support/edge/tcp-proxy';
import { startService, stopServices } from '../support/edge/service';

const rules = createTemporaryDirectory();
afterAll(() => {
  rules.remove();
});
afterEach(stopServices);

const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 100000 }
    reserve: { lease: 1h }
`;
const ANN = [['user', 'ann']] as const;

async function start() {
  rules.write('config/shop.yaml', RULES);
  const { grpc: target } = await startService({ env: { RUNTIME_ROOT: rules.path } });
  const limiterOf = (timeoutMs: number, at = target) => {
    const patience = { timeoutMs, settleTimeoutMs: 60_000 };
    return createRateLimiter({ target: at, domain: 'shop', ...patience, onError: 'deny' });
  };
  return { target, limiterOf };
}

/** More than the thousand calls that may wait for an answer at once. */
const MANY = 1_200;

it('settles 1,200 reservations at once, each with what it was', async () => {
  const limiter = (await start()).limiterOf(60_000);
  const ids = Array.from({ length: MANY }, (_, at) => `id-${String(at)}`);
  for (let at = 0; at < ids.length; at += 400) {
    const held = await Promise.all(
      ids.slice(at, at + 400).map((id) => limiter.reserve(ANN, id, 20)),
    );
    expect(held.filter(({ allowed }) => !allowed)).toEqual([]);
  }
  expect(await limiter.quota([ANN])).toMatchObject({ remaining: 76_000 });
  const settled = await Promise.all(ids.map((id) => limiter.settle(ANN, id, 1)));
  expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(await limiter.quota([ANN])).toMatchObject({ remaining: 98_800 });
  expect(limiter.stats()).toMatchObject({ unsettled: 0, inFlight: 0 });
  await limiter.close();
}, 120_000);

it('leaves nothing held or charged of reservations that it denied because their answers were late', async () => {
  const { target, limiterOf } = await start();
  const proxy = await startTcpProxy(Number(target.split(':')[1]));
  const hasty = limiterOf(1_000, `127.0.0.1:${String(proxy.port)}`);
  expect(await hasty.quota([ANN])).toMatchObject({ remaining: 100_000 });
  proxy.behaviour.holdsAnswers = true;
  const ids = Array.from({ length: 300 }, (_, at) => `id-${String(at)}`);
  const decisions = await Promise.all(ids.map((id) => hasty.reserve(ANN, id, 20)));
  expect(decisions.filter(({ allowed }) => allowed)).toEqual([]);
  proxy.release();
  await hasty.close();
  expect(hasty.stats()).toMatchObject({ failed: 300, unsettled: 0 });
  expect(await limiterOf(60_000).quota([ANN])).toMatchObject({ remaining: 100_000 });
  await proxy.close();
}, 120_000);
