/**
 * Captures what real clients send to the built service, through a TCP relay that keeps the client's octets, and writes
 * it to test/fixtures/h2-sessions. By hand, when a client is new; the README there says how.
 */
import { connect as connectHttp2 } from 'node:http2';
import { createServer, connect, type AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestClient, encodeRequest, SHOULD_RATE_LIMIT } from '../support/edge/grpc-client';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { run } from '../support/edge/grpc-tools';
import { startService, stopServices } from '../support/edge/service';
import { envoyConfig } from './envoy-config';
import { formatSession } from '../fuzz/sessions';

const LARGEST_SESSION = 4096;
const REQUEST = {
  domain: 'example',
  descriptors: [{ entries: [{ key: 'remote_address', value: '192.0.2.1' }] }],
};

interface Relay {
  readonly port: number;
  readonly sessions: Buffer[][];
  close(): void;
}

async function startRelay(target: number): Promise<Relay> {
  const sessions: Buffer[][] = [];
  const server = createServer((client) => {
    const octets: Buffer[] = [];
    sessions.push(octets);
    const upstream = connect(target, '127.0.0.1');
    client.on('data', (piece) => octets.push(piece));
    client.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => client.destroy()).pipe(client);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
    close: () => server.close(),
  };
}

type Client = (port: number, url: string, body: string) => Promise<unknown>;
const grpc = ['-H', 'content-type: application/grpc', '-H', 'te: trailers'];

const CLIENTS: Readonly<Record<string, Client>> = {
  curl: async (_port, url, body) => {
    const common = [
      '-sS',
      '--http2-prior-knowledge',
      '-o',
      '/dev/null',
      '--data-binary',
      `@${body}`,
    ];
    await run('curl', [...common, ...grpc, url]);
    await run('curl', [...common, '-H', 'content-type: text/plain', url]);
  },
  nghttp: (_port, url, body) => run('nghttp', ['-nv', '-d', body, ...grpc, url]),
  h2load: (_port, url, body) =>
    run('h2load', ['-n', '24', '-c', '2', '-m', '6', '-d', body, ...grpc, url]),
  grpcurl: async (port) => {
    const address = `127.0.0.1:${String(port)}`;
    const call = 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
    const program = '.cache/bin/grpcurl';
    await run(program, ['-plaintext', '-d', JSON.stringify(REQUEST), address, call]);
    await run(program, ['-plaintext', '-d', '{}', address, 'grpc.health.v1.Health/Check']);
    const watch = ['-plaintext', '-max-time', '1', '-d', '{}', address];
    await run(program, [...watch, 'grpc.health.v1.Health/Watch']);
  },
  'grpc-js': async (port) => {
    const client = createTestClient(`127.0.0.1:${String(port)}`);
    for (let call = 0; call < 4; call++) await client.ask(REQUEST);
    client.close();
  },
  'node-http2': async (_port, url) => {
    const session = connectHttp2(new URL(url).origin);
    const call = (headers: Record<string, string>, pieces: readonly Buffer[]) =>
      new Promise<void>((done) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': SHOULD_RATE_LIMIT,
          'content-type': 'application/grpc',
          te: 'trailers',
          ...headers,
        });
        stream.on('error', () => undefined).once('close', done);
        stream.resume();
        for (const piece of pieces) stream.write(piece);
        stream.end();
      });
    const message = prefixed(encodeRequest(REQUEST));
    await call(
      { 'grpc-timeout': '1S' },
      [...message].map((octet) => Buffer.from([octet])),
    );
    await call({ 'grpc-encoding': 'br' }, [message]);
    await call({ 'content-type': 'text/html' }, [message]);
    await Promise.all([call({}, [message]), call({ x: 'y'.repeat(300) }, [message, message])]);
    await new Promise<void>((done) => {
      session.close(done);
    });
  },
  h2spec: (port) =>
    run('.cache/bin/h2spec', [
      '-h',
      '127.0.0.1',
      '-p',
      String(port),
      '-P',
      SHOULD_RATE_LIMIT,
      '-S',
      '-o',
      '1',
    ]),
  'envoy-grpc': (port) => askThroughEnvoy(port, 'envoy_grpc'),
  'google-grpc': (port) => askThroughEnvoy(port, 'google_grpc'),
};

async function askThroughEnvoy(port: number, kind: 'envoy_grpc' | 'google_grpc'): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'envoy-'));
  const [admin, edge, upstream] = await Promise.all([freePort(), freePort(), freePort()]);
  const config = join(folder, 'envoy.json');
  writeFileSync(
    config,
    JSON.stringify(envoyConfig({ admin, edge, upstream, service: port, kind })),
  );
  const args = ['-c', config, '--disable-hot-restart', '--concurrency', '1', '-l', 'error'];
  const envoy = spawn('.cache/envoy/bin/envoy', args, { stdio: 'inherit' });
  const ended = new Promise((done) => envoy.once('exit', done));
  await eventually(
    async () => {
      const ready = await fetch(`http://127.0.0.1:${String(admin)}/ready`);
      if (!ready.ok) throw new Error('envoy is not ready');
    },
    { withinMs: 10_000, everyMs: 50 },
  );
  const ask = () => fetch(`http://127.0.0.1:${String(edge)}/`);
  const statuses = [(await ask()).headers.get('x-ratelimit-limit')];
  for (let i = 0; i < 3; i++) statuses.push((await ask()).headers.get('x-ratelimit-limit'));
  await Promise.all(Array.from({ length: 6 }, ask));
  console.log(`${kind}: x-ratelimit-limit ${String(statuses)}`);
  envoy.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true });
}

function prefixed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

async function record(wanted: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
  const body = join(folder, 'request.bin');
  writeFileSync(body, prefixed(encodeRequest(REQUEST)));
  const service = await startService({ env: { GRPC_TRANSPORT: 'wire' } });
  for (const [name, ask] of Object.entries(CLIENTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const relay = await startRelay(Number(service.grpc.split(':')[1]));
    await ask(relay.port, `http://127.0.0.1:${String(relay.port)}${SHOULD_RATE_LIMIT}`, body);
    const sessions = relay.sessions.map((pieces) => Buffer.concat(pieces));
    const kept = sessions.filter((one) => one.length > 0 && one.length <= LARGEST_SESSION);
    const distinct = [...new Set(kept.map(formatSession))];
    writeFileSync(`test/fixtures/h2-sessions/${name}.hex`, distinct.join('\n'));
    console.log(`${name}: ${String(distinct.length)} of ${String(sessions.length)} sessions`);
    relay.close();
  }
  await stopServices();
  rmSync(folder, { recursive: true });
}

record(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
