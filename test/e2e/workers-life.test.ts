import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../support/edge/eventually';
import { startLoad } from '../support/edge/load';
import { startService } from '../support/edge/service';
import { isRunning, workersOf } from '../support/worker-processes';
import { request, useWorkerServices } from '../support/edge/worker-service';

/** How a service of several workers begins and ends. */

const { settings, start } = useWorkerServices();

it('stops in order on a signal that the whole group gets, as from a terminal', async () => {
  const service = await start({ DRAIN_DELAY: '300ms' });
  const calls = startLoad(service, request, 4);
  await eventually(() => {
    expect(calls.answers.length).toBeGreaterThan(100);
  });
  for (const pid of workersOf(service)) process.kill(pid, 'SIGINT');
  const over = service.stop('SIGINT');
  await eventually(async () => {
    expect((await fetch(`${service.http}/healthcheck`)).status).toBe(500);
  });
  expect((await calls.stop()).bad).toBe(0);
  expect(await over).toBe(0);
  expect(service.output()).not.toContain('a worker exited');
});

it('ends at once with its workers on a second signal', async () => {
  const service = await start({ DRAIN_DELAY: '60s' });
  const workers = workersOf(service);
  const over = service.stop('SIGTERM');
  await eventually(() => {
    expect(service.output()).toContain('stopping on SIGTERM');
    // Signals of one moment are one.
    service.child.kill('SIGTERM');
    expect(service.output()).toContain('ended by a second signal');
  });
  expect(await over).toBe(1);
  await eventually(() => {
    for (const pid of workers) expect(isRunning(pid)).toBe(false);
  });
});

it.each([
  [
    'counters in memory',
    { WORKERS: '2', BACKEND_TYPE: 'memory' },
    'expected WORKERS=1, or counters in Redis (KVSTORE_URL; also on this machine, by Unix socket)',
  ],
  ['no number', { WORKERS: 'many' }, 'WORKERS="many": expected'],
  ['none', { WORKERS: '0' }, 'WORKERS="0": expected'],
  [
    'more than files may be open for',
    { WORKERS: '64', KVSTORE_URL: '127.0.0.1:1' },
    'WORKERS=64: expected at most 12, because the process may open 160 files; raise that limit (ulimit -n), or set fewer workers',
  ],
])('refuses %s, with the way out', (_, env, reason) => {
  const script = 'ulimit -n 160; exec "$0" dist/src/bin/ratelimit.js';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath], {
    env: { PATH: process.env['PATH'], RUNTIME_ROOT: 'examples', ...env },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toContain(reason);
});

it('says once what its owner refuses, and leaves no worker that started beside it', async () => {
  const service = await startService({
    env: settings({ SECRET_KEYS_FILE: '/nowhere/keys' }),
    waitUntilUp: false,
  });
  // The end of its output: no worker holds it any more.
  const [code] = (await once(service.child, 'close')) as [number];
  expect([code, service.output().split('/nowhere/keys')]).toEqual([
    1,
    [expect.any(String), expect.any(String)],
  ]);
});
