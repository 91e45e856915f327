import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { expectFigure } from '../support/edge/figure';
import { startHttpCollector } from '../support/otlp-collector';
import { pauseProcess } from '../support/pause-process';
import { send } from '../support/raw-http';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startService, stopServices } from '../support/edge/service';

const CHECK = (limit: string) => `domain: demo
show_rule: true
on_error: ${limit}
descriptors:
  - entries: [{ key: user, header: x-user }, { key: page, field: path, match: '^/check(.*)$' }]
  - entries: [{ key: user, header: x-user }]
`;
const RULES = `domain: demo
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 20 }
`;

let folder = '';
let redis: RedisServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-check-'));
  writeFileSync(join(folder, 'demo.yaml'), RULES);
  writeFileSync(join(folder, 'check.map'), CHECK('deny'));
});
afterEach(async () => {
  await stopServices();
  await redis?.stop();
  redis = undefined;
  rmSync(folder, { recursive: true });
});

const start = (env: Readonly<Record<string, string>> = {}) =>
  startService({
    env: {
      ...{ RUNTIME_ROOT: folder, RUNTIME_APPDIRECTORY: '' },
      ...{ CHECK_CONFIG: join(folder, 'check.map'), LOG_LEVEL: 'info', ...env },
    },
  });

const ann = [['x-user', 'ann']] as const;

it('keeps the last good check through a mistake, and says where that is', async () => {
  const service = await start();
  expect((await send(`${service.http}/check`, ann)).status).toBe(200);
  writeFileSync(join(folder, 'check.map'), `${CHECK('deny')}proxi: nginx\n`);
  await eventually(() => {
    expect(service.output()).toMatch(/a mistake in the checks.* line=7 .*unknown key/);
  });
  expect((await send(`${service.http}/check`, ann)).status).toBe(200);
  writeFileSync(join(folder, 'check.map'), `denied_status: 418\n${CHECK('deny')}`);
  await eventually(async () => {
    for (let times = 0; times < 20; times += 1) await send(`${service.http}/check`, ann);
    expect((await send(`${service.http}/check`, ann)).status).toBe(418);
  });
  await eventually(async () => {
    const stats = await (await fetch(`${service.debug}/stats`)).text();
    expect(stats).toContain('ratelimit.check.config_load_success: 2\n');
    expect(stats).toContain('ratelimit.check.config_load_error: 1\n');
  });
});

it('counts as one service with several workers, which follow changes too', async () => {
  redis = await startRedisServer();
  const service = await start({ WORKERS: '2', KVSTORE_URL: `127.0.0.1:${String(redis.port)}` });
  const calls = Array.from({ length: 60 }, () => send(`${service.http}/check`, ann));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  await eventually(async () => {
    const stats = await (await fetch(`${service.debug}/stats`)).text();
    expect(stats).toContain('ratelimit.check.allowed: 20\n');
    expect(stats).toContain('ratelimit.check.denied: 40\n');
  });
  writeFileSync(join(folder, 'check.map'), `denied_status: 418\n${CHECK('deny')}`);
  await eventually(async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => send(`${service.http}/check`, ann)),
    );
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 418));
  });
});

it('answers by on_error while Redis hangs, within its time-out, with health beside it', async () => {
  redis = await startRedisServer();
  const service = await start({
    KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    KVSTORE_TIMEOUT: '300ms',
  });
  pauseProcess(redis.pid);
  try {
    const hanging = Array.from({ length: 50 }, () => send(`${service.http}/check`, ann));
    const elapsedMs = startStopwatch(service.child);
    expect((await send(`${service.http}/healthcheck`)).status).toBe(200);
    expectFigure({ name: 'health', value: elapsedMs(), unit: 'ms', below: 500 });
    const answers = await Promise.all(hanging);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ code: 'store_timeout' });
    expect((await send(`${service.http}/quota`, ann)).status).toBe(503);
  } finally {
    process.kill(redis.pid, 'SIGCONT');
  }
});

it('is in the decision log, in traces and among the hot keys as any other call', async () => {
  const collector = await startHttpCollector();
  // Not beside the rules: each line would be a change there, after which rates begin anew.
  const logs = mkdtempSync(join(tmpdir(), 'weir-check-logs-'));
  const decisions = join(logs, 'decisions');
  try {
    const service = await start({
      ...{ DECISION_LOG: 'all', DECISION_LOG_SAMPLE: '1', DECISION_LOG_FILE: decisions },
      ...{ TRACING_ENABLED: 'true', OTEL_BSP_SCHEDULE_DELAY: '50' },
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(collector.port)}`,
    });
    await eventually(async () => {
      // On a busy machine a call may take longer than the second that is looked at: it is looked at again then.
      const look = { hotKeys: '' };
      const hot = fetch(`${service.debug}/api/v1/hot?seconds=1`);
      const read = hot.then(async (answer) => (look.hotKeys = await answer.text()));
      while (look.hotKeys === '') await send(`${service.http}/check`, ann, 'POST');
      expect(await read).toContain('ann');
    });
    await eventually(() => {
      const lines = readFileSync(decisions, 'utf8').trim().split('\n');
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ domain: 'demo', code: 'OK' });
    });
    await eventually(() => {
      const [call] = collector.spans.filter(({ name }) => name === 'POST /check');
      expect(call?.attributes).toMatchObject({ 'http.response.status_code': 200 });
    });
  } finally {
    await stopServices();
    await collector.stop();
    rmSync(logs, { recursive: true });
  }
});

it('answers while the service drains', async () => {
  const service = await start({ DRAIN_DELAY: '60s' });
  service.child.kill('SIGTERM');
  await eventually(async () => {
    expect((await send(`${service.http}/healthcheck`)).status).toBe(500);
  });
  expect((await send(`${service.http}/check`, ann)).status).toBe(200);
  await service.stop('SIGKILL');
});

it('answers what waits when its port closes, and counts it', async () => {
  redis = await startRedisServer();
  const service = await start({
    KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    KVSTORE_TIMEOUT: '20s',
  });
  expect((await send(`${service.http}/check`, ann)).status).toBe(200);
  pauseProcess(redis.pid);
  let stopped: Promise<number | null>;
  try {
    const waiting = send(`${service.http}/check`, ann);
    // Connections are accepted in their order: after these the call above is with the decisions.
    for (let times = 0; times < 3; times += 1) await send(`${service.http}/livez`);
    // One signal: a second one would end it, whoever is still to be answered.
    stopped = service.stop();
    await eventually(async () => {
      await expect(send(`${service.http}/livez`)).rejects.toThrow(/ECONN/);
    });
    process.kill(redis.pid, 'SIGCONT');
    expect((await waiting).headers['ratelimit']).toContain('r=18');
  } finally {
    process.kill(redis.pid, 'SIGCONT');
  }
  expect(await stopped).toBe(0);
});
