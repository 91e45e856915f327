import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { pauseProcess } from '../support/pause-process';
import { startService, stopServices, type Service } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
const SETTINGS = {
  RUNTIME_ROOT: join(ROOT, 'examples/code'),
  LIMIT_POLICY_HEADERS: 'all',
  LIMIT_RETRY_AFTER: 'on',
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

async function startShop(target: string) {
  const port = await freePort();
  const child = spawn(process.execPath, ['examples/code/server.mjs'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], PORT: String(port), RATE_LIMIT_TARGET: target },
  });
  const exited = once(child, 'exit');
  ends.push(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const visit = async (user: string, path = '/') => {
    const headers = { 'x-user': user };
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, { headers });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  await eventually(() => {
    expect(output).toContain('the shop is open');
  });
  return {
    visit,
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM');
      return (await exited) as [number | null, string | null];
    },
  };
}

const startAt = (grpc: string): Promise<Service> =>
  startService({ env: { ...SETTINGS, GRPC_PORT: grpc.split(':')[1] ?? '' } });

async function visitUntilRefused({ visit }: Awaited<ReturnType<typeof startShop>>, user: string) {
  for (let visits = 1; ; visits++) {
    const answer = await visit(user);
    if (answer.status !== 200) return { ...answer, visits };
    if (visits > 100) throw new Error('not refused');
  }
}

it('limits each user, says when to come back and what is left', async () => {
  const { grpc } = await startService({ env: SETTINGS });
  const shop = await startShop(grpc);
  // The shop lets visitors in who wait 200 ms for a decision: its connection has to be open.
  await eventually(async () => {
    expect((await shop.visit('dora')).headers.get('ratelimit')).not.toBeNull();
  });
  const first = await shop.visit('ann');
  expect(first).toMatchObject({ status: 200, body: 'Welcome to the shop\n' });
  expect(first.headers.get('ratelimit')).toMatch(/^"per-user";r=4;t=\d+$/);
  expect(first.headers.get('ratelimit-policy')).toBe('"per-user";q=5;w=60');
  const refused = await visitUntilRefused(shop, 'ann');
  expect(refused).toMatchObject({ status: 429 });
  // The minute may turn between two visits.
  expect(refused.visits).toBeLessThanOrEqual(10);
  const seconds = refused.headers.get('retry-after') ?? '';
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(JSON.parse(refused.body)).toEqual({
    ...{ error: `too many requests, try again in ${seconds} s`, code: 'rate_limited' },
  });
  expect((await shop.visit('bob')).status).toBe(200);
  const { limits } = JSON.parse((await shop.visit('bob', '/quota')).body) as {
    limits: unknown[];
  };
  expect(limits).toMatchObject([{ name: 'per-user', limit: 5, unit: 'minute', limited: false }]);
  expect(await shop.stop()).toEqual([0, null]);
});

it('stays open while the service is away or stands still, and limits again after', async () => {
  const service = await startService({ env: SETTINGS });
  const shop = await startShop(service.grpc);
  await visitUntilRefused(shop, 'ann');
  pauseProcess(service.child.pid);
  expect((await shop.visit('ann')).status).toBe(200);
  expect(shop.output()).toMatch(/no decision from 127\.0\.0\.1:\d+: .*\(DEADLINE_EXCEEDED\)/);
  service.child.kill('SIGCONT');
  await eventually(async () => {
    expect((await shop.visit('ann')).status).toBe(429);
  });
  await service.stop('SIGKILL');
  expect((await shop.visit('ann')).status).toBe(200);
  const again = await startAt(service.grpc);
  await eventually(async () => {
    expect((await shop.visit('cleo')).headers.get('ratelimit')).toMatch(/^"per-user";r=/);
  });
  expect((await visitUntilRefused(shop, 'cleo')).status).toBe(429);
  await again.stop();
  expect(await shop.stop()).toEqual([0, null]);
});
