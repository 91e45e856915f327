import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readSettings } from '../../src/settings/settings';
import { createAuthority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { PROGRAMS } from '../support/edge/programs';
import { findProxy } from '../support/edge/proxy-programs';
import { startService, stopServices } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
const EXAMPLE = join(ROOT, 'examples/envoy');
const read = (name: string) => readFileSync(join(EXAMPLE, name), 'utf8');
const run = promisify(execFile);

const envoy = PROGRAMS.envoy();
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

/** Starts a demo and waits until it prints where its parts are. */
async function playDemo(...words: readonly string[]) {
  const demo = play(process.execPath, ['scripts/demo.mjs', '--any-port', ...words]);
  const { through = '', debug = '' } = await eventually(
    () => {
      if (demo.child.exitCode !== null) throw new Error(demo.output());
      const places =
        /(?:Envoy|nginx|caddy) {2}(?<through>http:\S+)\n.*view\s+(?<debug>http:\S+)\/ui/.exec(
          demo.output(),
        );
      expect(places).not.toBeNull();
      return places?.groups ?? {};
    },
    { withinMs: 60_000 },
  );
  return { ...demo, through, debug };
}

whereEnvoyIs('the demo', () => {
  it('limits through Envoy, shows its load, and takes everything along when it is stopped', async () => {
    const { through, debug, ...demo } = await playDemo();
    await expectLimits(through);
    await eventually(async () => {
      const statistics = await (await fetch(`${debug}/stats`)).text();
      expect(statistics).toMatch(/rate_limit\.demo\.user\.total_hits: [1-9]/);
    });
    demo.child.kill('SIGINT');
    expect((await demo.ended)[0]).toBe(0);
    for (const url of [through, debug]) await expect(fetch(url)).rejects.toThrow();
  }, 90_000);

  it('called llm refuses by tokens as it prints, and shows what its load holds and settles', async () => {
    const { through, debug, ...demo } = await playDemo('llm');
    // It prints what to try after the places.
    const data = await eventually(() => {
      const [, printed = ''] = /-d '(.*)'/.exec(demo.output()) ?? [];
      expect(printed).not.toBe('');
      return printed;
    });
    const headers = { 'x-user': 'you', 'content-type': 'application/json' };
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const answer = await fetch(`${through}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: data,
      });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    await eventually(async () => {
      const statistics = await (await fetch(`${debug}/stats`)).text();
      expect(statistics).toMatch(/rate_limit\.llm\.user\.settled: [1-9]/);
      expect(statistics).toMatch(/rate_limit\.llm\.user\.over_limit: [1-9]/);
    });
    demo.child.kill('SIGINT');
    expect((await demo.ended)[0]).toBe(0);
  }, 90_000);

  it('of another name says which there are', async () => {
    const demo = play(process.execPath, ['scripts/demo.mjs', 'nothing']);
    expect((await demo.ended)[0]).toBe(1);
    expect(demo.output()).toMatch(/^there is no demo "nothing", expected one of envoy, /);
  });

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

describe.each(['nginx', 'caddy'] as const)('the demo called %s', (name) => {
  const program = findProxy(name);
  const whereItIs = program === undefined ? it.skip : it;

  whereItIs(
    'limits as it prints, shows its load, and takes everything along when it is stopped',
    async () => {
      const { through, debug, ...demo } = await playDemo(name);
      const answers: Response[] = [];
      for (let times = 0; times < 30 && answers.at(-1)?.status !== 429; times++) {
        answers.push(await fetch(`${through}/login`, { method: 'POST' }));
        await answers.at(-1)?.arrayBuffer();
      }
      const last = answers.at(-1);
      expect(last?.status).toBe(429);
      expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
      await eventually(async () => {
        const statistics = await (await fetch(`${debug}/stats`)).text();
        expect(statistics).toMatch(/ratelimit\.check\.allowed: [1-9]/);
        expect(statistics).toMatch(/ratelimit\.check\.denied: [1-9]/);
      });
      demo.child.kill('SIGINT');
      expect((await demo.ended)[0]).toBe(0);
      for (const url of [through, debug]) await expect(fetch(url)).rejects.toThrow();
    },
    90_000,
  );
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
/** The folder, and what its composition calls the service. */
const ROOMS = [
  ['envoy', 'ratelimit'],
  ['llm', 'ratelimit'],
  ['nginx', 'weir'],
  ['caddy', 'weir'],
  ['traefik', 'weir'],
] as const;
const compositionOf = (room: string) =>
  (parse(readFileSync(join(ROOT, 'examples', room, 'docker-compose.yml'), 'utf8')) as Composition)
    .services;

describe.each(ROOMS)('the composition of the example %s', (room, called) => {
  const services = compositionOf(room);

  it('gives the service settings that it takes', () => {
    const { environment = {} } = services[called] ?? {};
    expect(readSettings(environment)).toMatchObject({ ok: true, warnings: [] });
  });

  it('mounts only what is there', () => {
    const volumes = Object.values(services).flatMap((service) => service.volumes ?? []);
    const sources = volumes.map((volume) => volume.split(':')[0] ?? '');
    expect(sources.length).toBeGreaterThan(1);
    const folder = join(ROOT, 'examples', room);
    expect(sources.filter((source) => !existsSync(join(folder, source)))).toEqual([]);
  });

  it('names every image by its full version', () => {
    for (const { image } of Object.values(services))
      if (image !== undefined) expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+\.\d+/);
  });
});

describe('the composition of the example', () => {
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
    const mounts = compositionOf('envoy')['grafana']?.volumes ?? [];
    for (const { options } of providers) expect(mounts).toContain(`../grafana:${options.path}:ro`);
  });
});
