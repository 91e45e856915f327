import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { createTestClient } from '../support/edge/grpc-client';
import { eventually } from '../support/edge/eventually';
import { startService, type Service } from '../support/edge/service';
import { workersOf } from '../support/worker-processes';
import { request, useWorkerServices } from '../support/edge/worker-service';

/** Operator API and decision log of several workers. */

const { rules, redis, settings, start } = useWorkerServices(2);

async function post(service: Service, path: string, more: object = {}): Promise<unknown> {
  const answer = await fetch(`${service.debug}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...request, ...more }),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

/** One call after another, each over a connection of its own: they go to the workers in turn. */
async function askInTurn(service: Service, calls: number): Promise<readonly string[]> {
  const codes: string[] = [];
  for (let i = 0; i < calls; i += 1) {
    const client = createTestClient(service.grpc);
    const { response } = await client.ask(request);
    codes.push((response as { overallCode: string }).overallCode);
    client.close();
  }
  return codes;
}

it('resets a counter that the local caches of all workers know to be over its limit', async () => {
  const service = await start({ ADMIN_API: 'write', LocalCacheSizeInBytes: '1000000' });
  await askInTurn(service, 10);
  // Each worker was refused once; the other calls did not reach Redis.
  expect(await post(service, 'counters/read')).toMatchObject({ counters: [{ count: 4 }] });
  await post(service, 'counters/reset');
  expect(await post(service, 'counters/read')).toMatchObject({ counters: [{ count: 0 }] });
  await eventually(async () => {
    // Both workers have heard it: none answers from its cache.
    await redis().client.flushall();
    expect(await askInTurn(service, 2)).toEqual(['OK', 'OK']);
  });
});

it('lists what workers hold open, and ends it for all of them', async () => {
  rules.write(
    'config/shop.yaml',
    'domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { algorithm: in_flight, requests_per_unit: 4 }\n',
  );
  const service = await start({ ADMIN_API: 'write' });
  const reserve = async (id: string) => {
    const client = createTestClient(service.grpc);
    const entries = Object.entries({ user: 'ann', reserve: id });
    const { response } = await client.ask({
      domain: 'shop',
      descriptors: [{ entries: entries.map(([key, value]) => ({ key, value })) }],
    });
    client.close();
    return (response as { overallCode: string }).overallCode;
  };
  const open = async () => {
    const address = `${service.debug}/api/v1/counters/open?domain=shop&entry=user=ann`;
    const { reservations } = (await (await fetch(address)).json()) as {
      reservations: readonly { id: string; hits: number }[];
    };
    return reservations.map(({ id, hits }) => [id, hits]);
  };
  for (const id of ['a', 'b', 'c', 'd']) expect(await reserve(id)).toBe('OK');
  expect([await reserve('e'), await reserve('f')]).toEqual(['OVER_LIMIT', 'OVER_LIMIT']);
  expect((await open()).toSorted()).toEqual(['a', 'b', 'c', 'd'].map((id) => [id, 1]));
  expect(await post(service, 'counters/reset')).toMatchObject({ counters: [{ open: 4 }] });
  expect(await reserve('e')).toBe('OVER_LIMIT');
  await post(service, 'counters/reset', { open: true });
  expect(await open()).toEqual([]);
  expect([await reserve('e'), await reserve('f')]).toEqual(['OK', 'OK']);
});

it('explains a decision, lists rules with the hits of all workers and names their number', async () => {
  const service = await start();
  await askInTurn(service, 4);
  expect(await post(service, 'explain')).toMatchObject({ overallCode: 'OVER_LIMIT' });
  const get = async (path: string) => (await fetch(`${service.debug}/api/v1/${path}`)).json();
  expect(await get('version')).toMatchObject({ workers: 2 });
  await eventually(async () => {
    expect(await get('rules')).toMatchObject({ rules: [{ hits: 4, over: 2 }] });
  });
});

it('takes the profile of a worker, in which its calls are', async () => {
  const service = await start();
  const get = (path: string) => fetch(`${service.debug}/debug/pprof/${path}`);
  expect(await (await get('')).text()).toContain('\n&worker=2: ');
  const refused = await get('profile?worker=3');
  expect([refused.status, await refused.text()]).toEqual([
    400,
    'worker is "3", expected a whole number from 1 to 2\n',
  ]);
  const filesOf = async (query: string): Promise<readonly string[]> => {
    const profiling = { isOver: false };
    const profile = get(`profile?seconds=1&format=v8${query}`).finally(
      () => (profiling.isOver = true),
    );
    while (!profiling.isOver) await askInTurn(service, 10);
    const { nodes } = (await (await profile).json()) as Profiler.Profile;
    return nodes.map(({ callFrame }) => callFrame.url);
  };
  const ofCalls = expect.stringMatching(/src\/(?:transport\/grpc|wire)\//) as string;
  expect(await filesOf('&worker=2')).toContainEqual(ofCalls);
  expect(await filesOf('')).not.toContainEqual(ofCalls);
});

it('takes the heap profile of a worker, and says so when that worker ends', async () => {
  const service = await start();
  const heap = (query: string) => fetch(`${service.debug}/debug/pprof/heap?format=v8${query}`);
  expect(await (await heap('&worker=1&seconds=1')).json()).toHaveProperty('head');
  const [, victim = 0] = workersOf(service);
  const profile = heap('&worker=2&seconds=60');
  await eventually(async () => {
    const other = await heap('&worker=1&seconds=1');
    expect(other.status).toBe(409);
  });
  process.kill(victim, 'SIGKILL');
  const answer = await profile;
  expect([answer.status, await answer.text()]).toEqual([500, 'no profile: worker 2 ended\n']);
});

it('writes the decisions of all workers to one file, whole lines only', async () => {
  const file = `${rules.path}/decisions.jsonl`;
  const service = await start({
    ...{ DECISION_LOG: 'all', DECISION_LOG_SAMPLE: '1', DECISION_LOG_FILE: file },
    DECISION_LOG_MAX_PER_SECOND: '1000',
  });
  await Promise.all(Array.from({ length: 10 }, () => askInTurn(service, 10)));
  expect(await service.stop()).toBe(0);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const domains = lines.map((line) => (JSON.parse(line) as { domain: string }).domain);
  expect(domains).toEqual(Array(100).fill('shop'));
});

it('writes the decisions of all workers to standard output', async () => {
  const service = await start({ DECISION_LOG: 'over' });
  await askInTurn(service, 12);
  await eventually(() => {
    const lines = service.output().split('\n');
    expect(lines.filter((line) => line.startsWith('{"time"'))).toHaveLength(10);
  });
});

it('ends the start with one reason when the decision log cannot be opened', async () => {
  const service = await startService({
    env: settings({ DECISION_LOG: 'all', DECISION_LOG_FILE: `${rules.path}/none/log` }),
    waitUntilUp: false,
  });
  const [code] = (await once(service.child, 'close')) as [number];
  expect([code, service.output().split('ENOENT')]).toEqual([
    1,
    [expect.anything(), expect.anything()],
  ]);
});
