import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestClient } from '../support/edge/grpc-client';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { ask, startService, stopServices } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

afterEach(stopServices);

const BIN = join(ROOT, 'dist/src/bin/ratelimit.js');

it('prints in a terminal what it listens on, and lines to try that work as printed', async () => {
  const service = await startService({ inTerminal: true });
  const lines = await eventually(() => {
    const found = service.output().match(/^ {2}(curl|npx) .*$/gm);
    if (found?.length !== 2) throw new Error(`no lines to try in:\n${service.output()}`);
    return found.map((line) => line.trim());
  });
  for (const url of [service.http, service.debug, service.grpc])
    expect(service.output()).toContain(url.replace('http://', ''));

  for (const line of lines) {
    const answers = [await shell(line), await shell(line)];
    const isOver = () => answers.some(({ stdout }) => stdout.includes('OVER_LIMIT'));
    // A minute may end between two tries, so the second answer may need a third.
    if (!isOver()) answers.push(await shell(line));
    expect(answers.some(({ stdout }) => /\bOK\b/.test(stdout))).toBe(true);
    expect(isOver()).toBe(true);
    if (line.startsWith('npx')) expect(answers.map(({ code }) => code)).toContain(2);
  }
});

it('prints nothing to try where nobody sits, and says first what it is', async () => {
  const service = await startService();
  expect(service.output()).not.toContain('curl');
  expect(service.output().split('\n')[0]).toMatch(
    new RegExp(
      `level=warning msg="starting weir \\S+" node=v\\S+ rules=\\S+examples/config counters=(?:memory|"Redis at \\S+" workers=2) timeZones="20[^"]+"$`,
    ),
  );
});

it('says at the default level where it listens, without a terminal too', async () => {
  const port = String(await freePort());
  const service = await startService({
    env: {
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${port}`,
    },
  });
  const listening = await eventually(() => {
    const found = service.output().match(/(?<=msg=")listening for [^"]*/g) ?? [];
    if (found.length < 4) throw new Error(service.output());
    return found;
  });
  expect([...listening].sort()).toEqual([
    `listening for HTTP on ${service.http.replace('http://', '')}`,
    `listening for debug on ${service.debug.replace('http://', '')}`,
    `listening for gRPC on ${service.grpc}`,
    `listening for metrics on 127.0.0.1:${port}/metrics`,
  ]);
});

async function shell(line: string): Promise<{ code: number; stdout: string }> {
  try {
    const { stdout } = await run('sh', ['-c', line], { cwd: ROOT });
    return { code: 0, stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, stdout };
  }
}

it('ends with 0 on SIGTERM, SIGINT and SIGHUP, and says why and when', async () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const service = await startService();
    expect(await service.stop(signal)).toBe(0);
    expect(service.output()).toMatch(
      new RegExp(`level=warning msg="stopping on ${signal}"\n.* level=warning msg=stopped\n$`),
    );
  }
});

it('takes signals that come together for one: npm passes Ctrl-C on to its child once more', async () => {
  const service = await startService();
  // Two of the same kind could reach the process as one; two that wait together may be handled in either order.
  service.child.kill('SIGINT');
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(service.output()).toMatch(/msg="stopping on (?:SIGINT|SIGTERM)"\n.* msg=stopped\n$/);
});

it('serves calls for DRAIN_DELAY after the signal, with health down', async () => {
  const service = await startService({ env: { DRAIN_DELAY: '2s' } });
  const stoppedAt = performance.now();
  const ended = service.stop();
  await eventually(async () => {
    const health = await fetch(`${service.http}/healthcheck`);
    expect([health.status, await health.text()]).toEqual([500, 'not healthy: termination\n']);
  });
  const { status, headers } = await fetch(`${service.http}/json`, {
    method: 'POST',
    body: '{"domain":"example","descriptors":[{"entries":[{"key":"api_key","value":"a"}]}]}',
  });
  expect([status, headers.get('connection')]).toEqual([200, 'keep-alive']);
  expect(await ended).toBe(0);
  expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(1_900);
});

it('reports all bad settings together, never a secret, and ends with 1', async () => {
  const service = await startService({
    waitUntilUp: false,
    env: {
      NEAR_LIMIT_RATIO: '2',
      KVSTORE_URL: '127.0.0.1:6379',
      KVSTORE_TIMEOUT: 'soon',
      KVSTORE_AUTH: 'hunter2',
      LOG_LEVEL: 'loud',
    },
  });
  const [code] = (await once(service.child, 'close')) as [number];
  expect(code).toBe(1);
  for (const text of ['NEAR_LIMIT_RATIO', 'KVSTORE_TIMEOUT', 'soon', 'LOG_LEVEL', 'loud'])
    expect(service.output()).toContain(text);
  expect(service.output()).not.toContain('hunter2');
});

/** Starts with the port of another process in its environment, until it has ended. */
async function startOnTakenPort(envOf: (port: string) => Readonly<Record<string, string>>) {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const port = String((taken.address() as { port: number }).port);
  const service = await startService({ waitUntilUp: false, env: envOf(port) });
  const [code] = (await once(service.child, 'close')) as [number];
  taken.close();
  return { code, lines: service.output().trimEnd().split('\n'), port };
}

it('says which ports it cannot have, by their settings and in a line each, and ends with 1', async () => {
  const ports = (port: string) => ({ GRPC_PORT: port, PORT: port });
  const { code, lines, port } = await startOnTakenPort(ports);
  expect(code).toBe(1);
  expect(lines.slice(-2)).toEqual([
    `cannot listen on 127.0.0.1:${port} (GRPC_PORT): address already in use`,
    `cannot listen on 127.0.0.1:${port} (PORT): address already in use`,
  ]);
});

it('says the same of the port for scrapes, as a line of the log without a stack', async () => {
  const { code, lines, port } = await startOnTakenPort((taken) => ({
    DISABLE_STATS: 'false',
    USE_PULLMETRICS: 'true',
    PULLMETRICS_ADDR: `127.0.0.1:${taken}`,
  }));
  const reason = `cannot listen on 127.0.0.1:${port} (PULLMETRICS_ADDR): address already in use`;
  expect([code, lines.at(-1)]).toEqual([
    1,
    expect.stringMatching(/ level=error msg=".*"$/) as string,
  ]);
  expect(lines.at(-1)).toContain(JSON.stringify(reason));
});

it('names a port that it cannot have by the name that the operator wrote', async () => {
  const named = await startOnTakenPort((taken) => ({
    DISABLE_STATS: 'false',
    USE_PULLMETRICS: 'true',
    PROMETHEUS_ADDR: `127.0.0.1:${taken}`,
  }));
  expect(named.lines.at(-1)).toContain(`${named.port} (PROMETHEUS_ADDR): address already in use`);
});

it('writes what stops the start as lines of the JSON log when asked, whatever else is wrong', async () => {
  const errorsOf = (lines: readonly string[]) =>
    lines
      .map((line) => JSON.parse(line) as Record<string, string>)
      .filter(({ level }) => level === 'error')
      .map((line) => line['@message']);
  const { code, lines, port } = await startOnTakenPort((taken) => ({
    DEBUG_PORT: taken,
    LOG_FORMAT: 'JSON',
  }));
  expect([code, errorsOf(lines)]).toEqual([
    1,
    [`cannot listen on 127.0.0.1:${port} (DEBUG_PORT): address already in use`],
  ]);
  const bad = await startService({
    waitUntilUp: false,
    env: { LOG_FORMAT: 'json', LOG_LEVEL: 'fatl', NEAR_LIMIT_RATIO: '2' },
  });
  await once(bad.child, 'close');
  expect(errorsOf(bad.output().trimEnd().split('\n'))).toEqual([
    expect.stringMatching(/^LOG_LEVEL="fatl": expected /) as string,
    expect.stringMatching(/^NEAR_LIMIT_RATIO="2": expected /) as string,
  ]);
});

it('does not start on the socket of a process that lives, and ends with 1', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-uds-'));
  const env = { GRPC_UDS: join(folder, 'rls.sock'), GRPC_UDS_MODE: '0660' };
  const first = await startService({ env });
  // HTTP may answer a moment before gRPC listens: it looks first who else is on the socket.
  await eventually(() => {
    expect(statSync(env.GRPC_UDS).mode & 0o777).toBe(0o660);
  });
  const second = await startService({ waitUntilUp: false, env });
  const [code] = (await once(second.child, 'close')) as [number];
  expect(code).toBe(1);
  expect(second.output()).toContain(
    `cannot listen on unix:${env.GRPC_UDS} (GRPC_UDS): another process listens there`,
  );
  // A killed one leaves its socket behind, and the next takes the place of that.
  await first.stop('SIGKILL');
  const third = await startService({ env });
  const client = createTestClient(`unix:${env.GRPC_UDS}`);
  await eventually(async () => {
    const { code } = await client.unary('/grpc.health.v1.Health/Check', Buffer.alloc(0)).result;
    expect(code).toBe(0);
  });
  client.close();
  expect(await third.stop()).toBe(0);
  rmSync(folder, { recursive: true });
});

async function canListenOnIPv6(): Promise<boolean> {
  const server = createServer().listen(0, '::');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

it('answers on both stacks at ::', async () => {
  const everywhere = { HOST: '::', GRPC_HOST: '::', DEBUG_HOST: '::' };
  if (!(await canListenOnIPv6())) {
    const service = await startService({ env: everywhere, waitUntilUp: false });
    const [code] = (await once(service.child, 'close')) as [number];
    expect([code, service.output()]).toEqual([1, expect.stringContaining('cannot listen on [::]')]);
    return;
  }
  // A machine that has switched IPv6 off still listens at ::, for IPv4.
  const hasIPv6 = Object.values(networkInterfaces())
    .flat()
    .some((one) => one?.family === 'IPv6');
  const hosts = hasIPv6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];
  const service = await startService({ env: everywhere });
  for (const url of [service.http, service.debug]) {
    const path = url === service.http ? '/healthcheck' : '/stats';
    for (const host of hosts) {
      const { status } = await fetch(`${url.replace('127.0.0.1', host)}${path}`);
      expect(status).toBe(200);
    }
  }
  for (const host of hosts) {
    const client = createTestClient(service.grpc.replace('127.0.0.1', host));
    const check = client.unary('/grpc.health.v1.Health/Check', Buffer.alloc(0));
    expect((await check.result).code).toBe(0);
    client.close();
  }
});

it('prints its version', async () => {
  for (const word of ['--version', '-v']) {
    const { stdout } = await run(process.execPath, [BIN, word]);
    expect(stdout).toMatch(/^ratelimit \d+\.\d+\.\d+\S*, node v\S+\n$/);
  }
});

it('ends with 2 and the usage when it does not know an argument', async () => {
  const { PATH } = process.env;
  const failed = run(process.execPath, [BIN, '--port=80'], { env: { PATH } });
  await expect(failed).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^unknown argument "--port=80"\n\nusage: ratelimit /) as string,
  });
});

it.each([
  [['-config', '/data/ratelimit.yaml'], '-config, argument 2 (not shown)'],
  [['--config-dir=/data', '--redis-url=redis://:hunter2@redis'], '--config-dir, --redis-url'],
])('starts with the arguments %j of a deployment that sets RUNTIME_ROOT', async (words, names) => {
  const service = await startService({ words });
  expect((await ask(service, 'example', 'api_key=of-a-caller')).status).toBe(200);
  const [, warning] =
    /level=warning msg="(arguments are ignored[^"]*)"/.exec(service.output()) ?? [];
  expect(warning).toBe(
    `arguments are ignored: ${names}; settings come from the environment, and ratelimit --help lists them`,
  );
  expect(service.output()).not.toContain('hunter2');
});

it('takes an unknown argument of npx weir for a mistake, which sets RUNTIME_ROOT by itself', async () => {
  const { PATH } = process.env;
  const weir = join(ROOT, 'dist/src/bin/weir.js');
  const failed = run(process.execPath, [weir, '--port=80'], { env: { PATH } });
  await expect(failed).rejects.toMatchObject({ code: 2, stdout: '' });
});

it('prints every setting with --help', async () => {
  const { stdout } = await run(process.execPath, [BIN, '--help']);
  expect(stdout).toMatch(/^usage: ratelimit /);
  for (const name of ['RUNTIME_ROOT', 'KVSTORE_URL', 'REDIS_URL', 'GRPC_PORT'])
    expect(stdout).toContain(name);
});

it('logs a rejection that nobody handles and ends with 1', async () => {
  const script = join(ROOT, 'test/support/reject-later.cjs');
  const service = await startService({
    waitUntilUp: false,
    env: { NODE_OPTIONS: `--require ${script}` },
  });
  const [code] = (await once(service.child, 'close')) as [number];
  expect(code).toBe(1);
  expect(service.output()).toContain('nobody handles this');
});

it('logs in JSON when asked, and prints nothing else', async () => {
  const service = await startService({ env: { LOG_FORMAT: 'json', LOG_LEVEL: 'debug' } });
  await service.stop();
  const lines = service.output().trim().split('\n');
  const messages = lines.map((line) => JSON.parse(line) as Record<string, string>);
  expect(messages.map((one) => one['@message'])).toEqual(
    expect.arrayContaining([
      'loaded the rules',
      'loaded the domain',
      'loaded the limit',
      expect.stringContaining('listening for gRPC on 127.0.0.1:') as string,
    ]),
  );
  for (const one of messages) {
    expect(one['@timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
    expect(one['level']).toMatch(/^(debug|info|warning)$/);
  }
});
