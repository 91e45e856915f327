import {
  ONE_RULE,
  inMemcached,
  inRedis,
  postJson,
  startSmallService,
  stopSmallServices,
} from '../../support/edge/small-service';
import { createTestClient } from '../../support/edge/grpc-client';
import { eventually } from '../../support/edge/eventually';

/** What a store holds, and what it is asked for: the answers. `test/siege/security` sees to the others meanwhile. */

afterAll(stopSmallServices);

const DAY_SECONDS = 86_400;
const OK = 0;
const DEADLINE_EXCEEDED = 4;

it('answers, and goes on answering, whatever number a counter in Redis holds', async () => {
  const { redis, env } = await inRedis();
  const service = await startSmallService(
    `${ONE_RULE}  - { key: over, rate_limit: { unit: day, requests_per_unit: 0 } }\n`,
    { ...env, STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true' },
  );
  const today = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  const client = createTestClient(service.grpc);
  const entry = (key: string, value: string) => ({ entries: [{ key, value }] });
  const codes = new Map<string, number>();
  for (const count of ['inf', 'nan', '-1', '1e300', '9007199254740993', '-inf']) {
    for (const start of [today, today + DAY_SECONDS])
      await redis.client.set(`d_k_${count}_${String(start)}`, count);
    const descriptors = [entry('k', count), entry('over', 'v')];
    codes.set(count, (await client.ask({ domain: 'd', descriptors })).code);
    const elsewhere = { domain: 'elsewhere', descriptors: [entry('k', 'v')] };
    expect([count, (await client.ask(elsewhere)).code]).toEqual([count, OK]);
  }
  client.close();
  expect([...codes.values()]).not.toContain(DEADLINE_EXCEEDED);
});

const TOO_MANY = 429;
const LIMITED = `domain: d
descriptors:
  - { key: address, rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: agent, rate_limit: { unit: day, requests_per_unit: 1000000 } }
`;

it('denies a user who is over a limit in memcached whatever another value holds', async () => {
  const service = await startSmallService(LIMITED, await inMemcached());
  const descriptor = (key: string, value: string) => ({ entries: [{ key, value }] });
  const post = (agent: string) => {
    const descriptors = [descriptor('address', '10.0.0.1'), descriptor('agent', agent)];
    return postJson(service, JSON.stringify({ domain: 'd', descriptors }));
  };
  await eventually(async () => {
    expect(await post('plain')).toBe(TOO_MANY);
  });
  const agents = ['Mozilla/5.0 (X11)', 'x'.repeat(300), 'a\nb', '\u0000', 'ü'.repeat(200)];
  for (const agent of agents) expect([agent, await post(agent)]).toEqual([agent, TOO_MANY]);
});
