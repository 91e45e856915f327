import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createTestClient } from '../support/edge/grpc-client';
import { createAuthority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import { freePort } from '../support/free-port';
import { readStatistics } from '../support/read-statistics';
import { ruleText } from '../support/rule-directory';
import { ask, startService } from '../support/edge/service';
import { SERVER_NAME, serialShown } from '../support/edge/tls-caller';
import { connectionsTo, isRunning, workersOf } from '../support/worker-processes';
import {
  HITS,
  isHealthy,
  LOADED,
  request,
  RESTARTS,
  useWorkerServices,
  WORKERS,
} from '../support/edge/worker-service';
import { startAdsServer } from '../support/edge/xds-server';
import { response, userLimit } from '../support/xds-messages';

const { rules, redis, settings, start } = useWorkerServices();

it('counts and reports as one service, whichever worker answers', async () => {
  rules.write('config/shop.yaml', ruleText(5));
  const service = await start();
  const clients = Array.from({ length: 6 }, () => createTestClient(service.grpc));
  const answers = await Promise.all(clients.map((client) => client.ask(request)));
  for (const client of clients) client.close();
  const codes = answers.map((answer) => (answer.response as { overallCode: string }).overallCode);
  expect(codes.filter((code) => code === 'OK')).toHaveLength(5);
  const { body } = await ask(service, 'shop', 'user=ann');
  expect(body.overallCode).toBe('OVER_LIMIT');
  const stats = await readStatistics(service);
  expect([stats.get(HITS), stats.get(WORKERS), stats.get(RESTARTS), stats.get(LOADED)]).toEqual([
    ...[7, 2, 0, 1],
  ]);
  const verbose = await (await fetch(`${service.http}/readyz?verbose`)).text();
  expect(verbose).toBe('start: up\nstore: up\nconfiguration: up\nworkers: up\ntermination: up\n');
  expect(await service.stop()).toBe(0);
});

it('takes new rules into every worker', async () => {
  const service = await start();
  rules.write('config/shop.yaml', ruleText(7));
  await eventually(async () => {
    expect((await readStatistics(service)).get(LOADED)).toBe(2);
  });
  // Once that is counted, no worker decides by the old ones.
  for (let i = 0; i < 6; i += 1) {
    const { body } = await ask(service, 'shop', 'user=bob');
    expect(body.statuses?.[0]?.limitRemaining).toBe(6 - i);
  }
});

it('hands connections to the workers in turn', async () => {
  const service = await start({ WORKERS: '4' });
  const port = Number(service.grpc.split(':')[1]);
  const clients = Array.from({ length: 8 }, () => createTestClient(service.grpc));
  for (const client of clients) expect((await client.ask(request)).code).toBe(0);
  await eventually(() => {
    expect(workersOf(service).map((pid) => connectionsTo(port, pid))).toEqual([2, 2, 2, 2]);
  });
  for (const client of clients) client.close();
});

it('opens one stream to the management server, which sees one acknowledgement', async () => {
  const plane = await startAdsServer();
  const service = await startService({
    env: settings({ CONFIG_TYPE: 'GRPC_XDS_SOTW', CONFIG_GRPC_XDS_SERVER_URL: plane.target }),
    waitUntilUp: false,
  });
  const stream = await plane.opened(1);
  await stream.requested(1);
  stream.send(response('1', 'a', [userLimit('shop', 3)]));
  await stream.requested(2);
  await isHealthy(service);
  const remaining = await Promise.all(
    [1, 2, 3].map(async () => (await ask(service, 'shop', 'user=ann')).body.statuses?.[0]?.code),
  );
  expect(remaining).toEqual(['OK', 'OK', 'OK']);
  expect([plane.streams.length, stream.requests.length]).toEqual([1, 2]);
  await service.stop();
  plane.stop();
});

it('serves a renewed certificate from every worker', async () => {
  const authority = createAuthority();
  const [one, two] = ['one', 'two'].map((name) => authority.issue(name, [SERVER_NAME]));
  const put = (pair: typeof one) => {
    copyFileSync(pair?.certFile ?? '', rules.at('tls.crt'));
    copyFileSync(pair?.keyFile ?? '', rules.at('tls.key'));
  };
  put(one);
  const service = await start({
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: rules.at('tls.crt'),
    GRPC_SERVER_TLS_KEY: rules.at('tls.key'),
  });
  const shown = async () =>
    [
      await serialShown(service.grpc, authority.caFile),
      await serialShown(service.grpc, authority.caFile),
    ] as const;
  const [before, same] = await shown();
  expect(same).toBe(before);
  put(two);
  await eventually(async () => {
    const [a, b] = await shown();
    expect(a).not.toBe(before);
    expect(b).toBe(a);
  });
});

it('leaves no worker and no port behind when the owner is killed', async () => {
  const service = await start();
  const workers = workersOf(service);
  expect(workers).toHaveLength(2);
  await service.stop('SIGKILL');
  await eventuallyWithin(
    () => {
      for (const pid of workers) expect(isRunning(pid)).toBe(false);
    },
    { name: 'workers gone', belowMs: 1_000 },
  );
  const [, port] = service.grpc.split(':');
  const again = await startService({ env: settings({ GRPC_PORT: String(port) }) });
  await isHealthy(again);
});

it('answers a scrape while a worker is stopped, and replaces it', async () => {
  const port = await freePort();
  const service = await start({
    DISABLE_STATS: 'false',
    USE_PULLMETRICS: 'true',
    PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
  });
  const scrape = async () => (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
  await ask(service, 'shop', 'user=ann');
  await eventually(async () => {
    expect(await scrape()).toContain('ratelimit_workers_count 2');
  });
  const [victim = 0] = workersOf(service);
  process.kill(victim, 'SIGSTOP');
  const startedMs = performance.now();
  await scrape();
  expectFigure({ name: 'scrape', value: performance.now() - startedMs, unit: 'ms', below: 300 });
  await eventually(
    async () => {
      const stats = await readStatistics(service);
      expect([stats.get(RESTARTS), stats.get(WORKERS)]).toEqual([1, 2]);
    },
    { withinMs: 25_000 },
  );
  expect(service.output()).toContain('a worker does not respond and is killed');
});

it('shows what connections of workers hold', async () => {
  const port = await freePort();
  const service = await start({
    DISABLE_STATS: 'false',
    USE_PULLMETRICS: 'true',
    PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
  });
  const held = async () => {
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
    return Number(/^ratelimit_connections_held_bytes (\d+)/m.exec(text)?.[1]);
  };
  const { hostname, port: httpPort } = new URL(service.http);
  const client = connect(Number(httpPort), hostname);
  client.write(
    `POST /json HTTP/1.1\r\nHost: weir\r\nContent-Length: 60000\r\n\r\n${'.'.repeat(50_000)}`,
  );
  await eventually(async () => {
    expect(await held()).toBeGreaterThanOrEqual(50_000);
  });
  client.destroy();
  await eventually(async () => {
    expect(await held()).toBe(0);
  });
});

it('gives a connection that was on its way to a worker that died to another', async () => {
  const service = await start();
  const [victim = 0] = workersOf(service);
  process.kill(victim, 'SIGSTOP');
  const [host = '', port = ''] = service.grpc.split(':');
  const served = new Set<Socket>();
  const closed = new Set<Socket>();
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(Number(port), host);
    socket.once('data', () => served.add(socket));
    socket.on('error', () => undefined);
    return socket.once('close', () => closed.add(socket));
  });
  await eventually(() => {
    expect(served.size).toBe(3);
  });
  process.kill(victim, 'SIGKILL');
  await eventually(() => {
    expect([served.size, closed.size]).toEqual([4, 0]);
  });
  for (const socket of sockets) socket.destroy();
});

it('shares one Unix socket, also one that a killed service left behind', async () => {
  const path = rules.at('rl.sock');
  const first = await start({ GRPC_UDS: path });
  await first.stop('SIGKILL');
  const service = await start({ GRPC_UDS: path });
  const clients = [1, 2].map(() => createTestClient(`unix:${path}`));
  // HTTP may answer a moment before gRPC listens.
  await eventually(async () => {
    const [first] = clients;
    const health = first?.unary('/grpc.health.v1.Health/Check', Buffer.alloc(0));
    expect((await health?.result)?.code).toBe(0);
  });
  const answers = await Promise.all(clients.map((client) => client.ask(request)));
  for (const client of clients) client.close();
  expect(answers.map(({ code }) => code)).toEqual([0, 0]);
  expect(await service.stop()).toBe(0);
});

it('ends at once, with one line, when a port is taken', async () => {
  const port = String(redis().port);
  const service = await startService({ env: settings({ GRPC_PORT: port }), waitUntilUp: false });
  const [code] = (await once(service.child, 'close')) as [number];
  expect(code).toBe(1);
  const line = `cannot listen on 127.0.0.1:${port} (GRPC_PORT): address already in use`;
  expect(
    service
      .output()
      .split('\n')
      .filter((each) => each.includes(line)),
  ).toHaveLength(1);
});
