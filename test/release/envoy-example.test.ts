import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { connect, type ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEnvoyWith, stopEnvoys, type EnvoyProcess } from '../support/edge/envoy';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { pauseProcess } from '../support/pause-process';
import { PROGRAMS } from '../support/edge/programs';
import { startService, stopServices, type Service } from '../support/edge/service';
import { workersOf } from '../support/worker-processes';

const ROOT = join(__dirname, '../..');
const EXAMPLE = readFileSync(join(ROOT, 'examples/envoy/envoy.yaml'), 'utf8');
const LIMIT = 100;
const RULES = `
domain: demo
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: ${String(LIMIT)} }
`;
const CALLERS = 4_000;
/** More than 1,000 streams on one connection Envoy does not take. */
const SESSIONS = 8;
const RESOURCE_EXHAUSTED = '8';

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

const root = mkdtempSync(join(tmpdir(), 'weir-envoy-example-'));
mkdirSync(join(root, 'config'));
writeFileSync(join(root, 'config/demo.yaml'), RULES);
const sessions: ClientHttp2Session[] = [];
afterAll(async () => {
  for (const session of sessions) session.destroy();
  await stopEnvoys();
  await stopServices();
  rmSync(root, { recursive: true });
});

function open(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${String(port)}`);
  sessions.push(session);
  return session;
}

/** The first header fields of an answer, which are all of them where it has no body. */
async function ask(session: ClientHttp2Session, more: OutgoingHttpHeaders = {}) {
  const stream = session.request({ ':path': '/', 'x-user': 'many', ...more });
  stream.resume();
  const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return fields;
}

/** Names and values by turns, for Node leaves a second one of the same name out. */
async function askRaw(session: ClientHttp2Session): Promise<readonly string[]> {
  const stream = session.request({ ':path': '/', 'x-user': 'raw' });
  stream.resume();
  const [, , raw] = (await once(stream, 'response')) as [object, number, readonly string[]];
  return raw;
}

whereEnvoyIs('Envoy 1.40 with the configuration of examples/envoy', () => {
  let service: Service;
  let envoy: EnvoyProcess;
  let port: number;
  let admin: number;
  beforeAll(async () => {
    service = await startService({ env: { RUNTIME_ROOT: root, LIMIT_RETRY_AFTER: 'on' } });
    const [through, upstream, adminPort] = [await freePort(), await freePort(), await freePort()];
    port = through;
    admin = adminPort;
    const config = EXAMPLE.replace(
      '0.0.0.0, port_value: 9901',
      `127.0.0.1, port_value: ${String(admin)}`,
    )
      .replace('0.0.0.0, port_value: 10000', `127.0.0.1, port_value: ${String(port)}`)
      .replaceAll('port_value: 10001', `port_value: ${String(upstream)}`)
      .replace('ratelimit, port_value: 8081', service.grpc.replace(':', ', port_value: '))
      // This is about how many wait at once, not for how long.
      .replace('timeout: 0.050s', 'timeout: 60s');
    envoy = await startEnvoyWith(program ?? '', config);
  });

  it('lets none of 4,000 requests at once pass uncounted', async () => {
    const pids = [service.child.pid ?? 0, ...workersOf(service)];
    // Nothing is answered before all of them wait.
    for (const pid of pids) pauseProcess(pid);
    const answers = Array.from({ length: SESSIONS }, () => open(port)).flatMap((session) =>
      Array.from({ length: CALLERS / SESSIONS }, () => ask(session)),
    );
    await eventually(
      async () => {
        expect(await envoy.counter('http.public.downstream_rq_total')).toBe(CALLERS);
      },
      { withinMs: 30_000, everyMs: 50 },
    );
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    const statuses = (await Promise.all(answers)).map((fields) => fields[':status']);
    const passed = statuses.filter((status) => Number(status) !== 429).length;
    const errors = await envoy.counter('cluster.upstream.ratelimit.error');
    expect({ passed, errors }).toEqual({ passed: LIMIT, errors: 0 });
  }, 60_000);

  it('shows what the alert asks for to Prometheus, and what the runbook says', async () => {
    const address = `127.0.0.1:${String(admin)}`;
    const scrape = await (await fetch(`http://${address}/stats/prometheus`)).text();
    const alerts = readFileSync(join(ROOT, 'deploy/prometheus/alerts.yaml'), 'utf8');
    const asked = [...alerts.matchAll(/\b(envoy_\w+)\{/g)].map(([, name = '']) => name);
    expect(asked).toHaveLength(2);
    for (const name of asked) expect(scrape).toContain(`${name}{envoy_cluster_name="ratelimit"} 0`);

    const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
    const [command = ''] = /^curl .*localhost:9901.*$/m.exec(runbook) ?? [];
    const line = command.replace('localhost:9901', address);
    const { stdout } = await promisify(execFile)('bash', ['-c', line]);
    for (const name of [
      'cluster.ratelimit.upstream_rq_active_overflow',
      'cluster.ratelimit.upstream_rq_pending_overflow',
      'cluster.ratelimit.circuit_breakers.default.rq_open',
    ])
      expect(stdout).toContain(`${name}: 0\n`);
  });

  it('says once when to come back, where the service says it too', async () => {
    const session = open(port);
    const answers = [];
    for (let hits = 0; hits <= LIMIT; hits++) answers.push(await askRaw(session));
    const waits = answers.map((raw) => raw.filter((name) => name === 'retry-after').length);
    expect(waits).toEqual([...Array<number>(LIMIT).fill(0), 1]);
  });

  it('tells a gRPC client that it is over a limit, not that the service is away', async () => {
    const session = open(port);
    const call = { 'content-type': 'application/grpc', ':method': 'POST' };
    for (let hits = 0; hits < LIMIT; hits++) await ask(session, { 'x-user': 'grpc' });
    const { ':status': status, 'grpc-status': grpcStatus } = await ask(session, {
      ...call,
      'x-user': 'grpc',
    });
    expect({ status, grpcStatus }).toEqual({ status: 200, grpcStatus: RESOURCE_EXHAUSTED });
  });
});
