import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { sendBytes } from '../support/raw-http';
import { ask, startService, stopServices } from '../support/edge/service';

const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await stopServices();
});

/** A request of which 500,000 bytes come, and the rest does not. */
function holdBytes(url: string): void {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  socket.write('POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n');
  socket.write(' '.repeat(500_000));
}

it('bounds what all connections hold by MAX_HELD_BYTES, and counts what it ended for that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bounds-'));
  const check = (onError: string) =>
    `domain: d\non_error: ${onError}\ndescriptors: [{ entries: [{ key: k, header: x-k }] }]\n`;
  for (const name of ['allow', 'deny']) writeFileSync(join(folder, `${name}.yaml`), check(name));
  const scraped = `127.0.0.1:${String(await freePort())}`;
  const service = await startService({
    env: {
      BACKEND_TYPE: 'memory',
      MAX_HELD_BYTES: '1200000',
      CHECK_CONFIG: folder,
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: scraped,
    },
  });
  const stats = async () => (await fetch(`${service.debug}/stats`)).text();
  const heldBytes = async () => {
    const text = await (await fetch(`http://${scraped}/metrics`)).text();
    return Number(/^ratelimit_connections_held_bytes (\S+)$/m.exec(text)?.[1]);
  };
  await eventually(async () => {
    expect(await heldBytes()).toBe(0);
  });
  holdBytes(service.http);
  holdBytes(service.http);
  await eventually(async () => {
    expect(await heldBytes()).toBeGreaterThan(1_000_000);
  });
  holdBytes(service.http);
  await eventually(async () => {
    const refused = await ask(service, 'd', 'k=v');
    expect([refused.status, refused.body]).toMatchObject([503, { code: 'overloaded' }]);
  });
  const statusOf = async (path: string) =>
    (await fetch(`${service.http}${path}`, { headers: { 'x-k': 'v' } })).status;
  for (const [path, status] of [
    ['/healthcheck', 200],
    ['/check/allow', 200],
    ['/check/deny', 429],
    ['/quota/allow', 503],
  ] as const)
    expect([path, await statusOf(path)]).toEqual([path, status]);
  rmSync(folder, { recursive: true });
  expect(await stats()).toMatch(/connections\.ended_unread: 1\n/);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => {
    expect((await ask(service, 'd', 'k=v')).status).toBe(200);
  });
});

it('gives every HTTP port MAX_CONNECTIONS, and the debug port DEBUG_ALLOWED_HOSTS', async () => {
  const service = await startService({
    env: {
      BACKEND_TYPE: 'memory',
      MAX_CONNECTIONS: '3',
      DEBUG_ALLOWED_HOSTS: 'other.example,debug.example.com',
    },
  });
  const port = Number(new URL(service.debug).port);
  const asked = (host: string) =>
    sendBytes(port, `GET /stats HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await asked('debug.example.com')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await asked('evil.example.com')).toMatch(/^HTTP\/1\.1 421 [^]*DEBUG_ALLOWED_HOSTS/);
  for (let i = 0; i < 3; i++) sockets.push(connect(port, '127.0.0.1'));
  await eventually(async () => {
    expect(await asked('a')).toBe('');
  });
  for (const socket of sockets) socket.destroy();
  await eventually(async () => {
    expect(await asked('a')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
