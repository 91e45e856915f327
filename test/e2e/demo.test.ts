import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readSettings } from '../../src/settings/read-settings';
import { createAuthority } from '../support/certificates';
import { findEnvoy } from '../support/envoy';
import { eventually } from '../support/eventually';
import { freePort } from '../support/free-port';
import { startService, stopServices } from '../support/service';

const ROOT = join(__dirname, '../..');
const EXAMPLE = join(ROOT, 'examples/envoy');
const read = (name: string) => readFileSync(join(EXAMPLE, name), 'utf8');
const run = promisify(execFile);

const envoy = findEnvoy();
const whereEnvoyIs = envoy === undefined ? describe.skip : describe;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

/** Asks for a path until it is limited; answers the statuses and the headers of the last answer. */
async function askUntilLimited(url: string) {
  const statuses: number[] = [];
  for (;;) {
    const answer = await fetch(`${url}/login`);
    await answer.arrayBuffer();
    statuses.push(answer.status);
    if (answer.status !== 200 || statuses.length > 20) return { statuses, headers: answer.headers };
  }
}

async function expectLimits(url: string): Promise<void> {
  const { statuses, headers } = await askUntilLimited(url);
  expect(statuses.at(0)).toBe(200);
  expect(statuses.at(-1)).toBe(429);
  expect(headers.get('x-ratelimit-limit')).toMatch(/^3, 3;w=60/);
  expect(headers.get('x-ratelimit-remaining')).toBe('0');
  expect(headers.get('retry-after')).toBe(headers.get('x-ratelimit-reset'));
}

/** Starts a program and collects what it prints; it is killed with its group when the test leaves it behind. */
function play(program: string, words: readonly string[]) {
  const child = spawn(program, words, { cwd: ROOT, detached: true });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit') as Promise<[number | null]>;
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await ended;
  });
  return { child, ended, output: () => output };
}

whereEnvoyIs('the demo', () => {
  it('limits through Envoy, shows its load, and takes everything along when it is stopped', async () => {
    const demo = play(process.execPath, ['scripts/demo.mjs', '--any-port']);
    const { through = '', debug = '' } = await eventually(
      () => {
        if (demo.child.exitCode !== null) throw new Error(demo.output());
        const places = /Envoy {2}(?<through>http:\S+)\n.*view\s+(?<debug>http:\S+)\/ui/.exec(
          demo.output(),
        );
        expect(places).not.toBeNull();
        return places?.groups ?? {};
      },
      { withinMs: 60_000 },
    );
    await expectLimits(through);
    await eventually(async () => {
      const statistics = await (await fetch(`${debug}/stats`)).text();
      expect(statistics).toMatch(/rate_limit\.demo\.user\.total_hits: [1-9]/);
    });
    demo.child.kill('SIGINT');
    expect((await demo.ended)[0]).toBe(0);
    for (const url of [through, debug]) await expect(fetch(url)).rejects.toThrow();
  }, 90_000);

  it('limits over TLS with the transport socket of the example', async () => {
    const authority = createAuthority();
    const folder = mkdtempSync(join(tmpdir(), 'weir-envoy-tls-'));
    ends.push(() => {
      rmSync(folder, { recursive: true });
      rmSync(authority.directory, { recursive: true });
    });
    const server = authority.issue('ratelimit', ['ratelimit']);
    const client = authority.issue('envoy', ['envoy']);
    const service = await startService({
      env: {
        RUNTIME_ROOT: EXAMPLE,
        GRPC_SERVER_USE_TLS: 'true',
        GRPC_SERVER_TLS_CERT: server.certFile,
        GRPC_SERVER_TLS_KEY: server.keyFile,
        GRPC_CLIENT_TLS_CACERT: authority.caFile,
      },
    });
    const [port, admin, upstream] = await Promise.all([freePort(), freePort(), freePort()]);
    const socket = read('transport-socket.yaml')
      .replace('/certs/envoy.pem', client.certFile)
      .replace('/certs/envoy.key', client.keyFile)
      .replaceAll('/certs/ca.pem', authority.caFile);
    const config = read('envoy.yaml')
      .replace('0.0.0.0, port_value: 10000', `127.0.0.1, port_value: ${String(port)}`)
      .replace('0.0.0.0, port_value: 9901', `127.0.0.1, port_value: ${String(admin)}`)
      .replaceAll('port_value: 10001', `port_value: ${String(upstream)}`)
      .replace('ratelimit, port_value: 8081', service.grpc.replace(':', ', port_value: '))
      // A handshake on a busy machine takes its time.
      .replace('timeout: 0.050s', 'timeout: 5s')
      .replace(
        '    - name: ratelimit\n',
        `    - name: ratelimit\n${socket.replaceAll(/^/gm, '      ')}\n`,
      );
    const file = join(folder, 'envoy.yaml');
    writeFileSync(file, config);
    play(envoy ?? '', ['-c', file, '--disable-hot-restart', '--concurrency', '1', '-l', 'error']);
    await eventually(
      async () => {
        expect((await fetch(`http://127.0.0.1:${String(admin)}/ready`)).status).toBe(200);
      },
      { withinMs: 30_000 },
    );
    await expectLimits(`http://127.0.0.1:${String(port)}`);
  }, 60_000);
});

interface Composition {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly environment?: NodeJS.ProcessEnv;
        readonly volumes?: readonly string[];
      }
    >
  >;
}
const { services } = parse(read('docker-compose.yml')) as Composition;

describe('the composition of the example', () => {
  it('gives the service settings that it takes', () => {
    const { environment = {} } = services['ratelimit'] ?? {};
    expect(readSettings(environment)).toMatchObject({ ok: true, warnings: [] });
  });

  it('mounts only what is there', () => {
    const volumes = Object.values(services).flatMap((service) => service.volumes ?? []);
    const sources = volumes.map((volume) => volume.split(':')[0] ?? '');
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((source) => !existsSync(join(EXAMPLE, source)))).toEqual([]);
  });

  it('names every image by its full version', () => {
    for (const { image } of Object.values(services))
      if (image !== undefined) expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+\.\d+/);
  });

  it('has Prometheus scrape the service and read the alerts, as promtool sees it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-prometheus-'));
    ends.push(() => {
      rmSync(folder, { recursive: true });
    });
    const alerts = readFileSync(join(ROOT, 'deploy/prometheus/alerts.yaml'));
    writeFileSync(join(folder, 'alerts.yaml'), alerts);
    writeFileSync(join(folder, 'prometheus.yml'), read('prometheus.yml'));
    const { stdout } = await run('promtool', ['check', 'config', join(folder, 'prometheus.yml')]);
    expect(stdout).toContain('SUCCESS: 1 rule files found');
  });

  it('lets Grafana find Prometheus and the dashboard where they are mounted', () => {
    const { datasources } = parse(read('grafana/datasources/prometheus.yaml')) as {
      readonly datasources: readonly { readonly url: string }[];
    };
    expect(datasources.map(({ url }) => new URL(url).hostname)).toEqual(['prometheus']);
    const { providers } = parse(read('grafana/dashboards/weir.yaml')) as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const mounts = services['grafana']?.volumes ?? [];
    for (const { options } of providers) expect(mounts).toContain(`../grafana:${options.path}:ro`);
  });
});
