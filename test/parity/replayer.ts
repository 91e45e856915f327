import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { filter, firstValueFrom } from 'rxjs';
import { createOutageLog } from '../../src/app/outage-log';
import { createApp } from '../../src/app/create-app';
import type { App } from '../../src/app/owner';
import type { Addresses } from '../../src/app/create-transports';
import { createLocalCache, withLocalCache } from '../../src/app/guard-counters';
import type { CounterStore } from '../../src/app/actors/store';
import { toProtoJson } from '../../src/cli/response';
import { parseInProcess, createDirectorySource } from '../../src/rule-sources/directory-source';
import type { Explanation } from '../../src/core/explain/explanation';
import { compileInSlices } from '../../src/core/rules/compile';
import { RATE_LIMIT_PROTO, loadProtos } from '../../src/platform/proto-files';
import { readSettings } from '../../src/settings/read-settings';
import type { Settings } from '../../src/settings/settings';
import { createRegistry, type Registry } from '../../src/stats/registry';
import { eventually } from '../support/eventually';
import { silentLogger } from '../support/silent-logger';
import type { ProtoRequest, Scenario, Step } from './scenario';

/** A running service whose clock stands where the test puts it. */
export interface Replayer {
  readonly registry: Registry;
  setClock(seconds: number): void;
  /** The answer to a step in the words of its recording. */
  perform(step: Step): Promise<Partial<Step>>;
  /** What the operator API says of the step's request; undefined when it has none. */
  explain(step: Step): Promise<Explained | undefined>;
  close(): Promise<void>;
}

export interface Explained {
  readonly status: number;
  readonly body: Partial<Explanation>;
}

const SERVICE = loadProtos([RATE_LIMIT_PROTO])[
  'envoy.service.ratelimit.v3.RateLimitService'
] as ServiceDefinition;
const HEALTH = loadHealth();

export async function startReplay(
  scenario: Scenario,
  makeStore: (registry: Registry, clock: () => number) => Promise<CounterStore>,
  more: Readonly<Record<string, string>> = {},
): Promise<Replayer> {
  const root = await mkdtemp(join(tmpdir(), 'weir-parity-'));
  const directory = join(root, 'config');
  await mkdir(directory);
  for (const [file, text] of Object.entries(scenario.rules))
    await writeFile(join(directory, file), text);

  // A call more would be one too many for its second.
  let skippedMs = 0;
  const skipSecond = () => {
    skippedMs += 1_000;
  };
  let now = scenario.steps[0]?.at ?? 0;
  const clock = () => now;
  const registry = createRegistry();
  const settings = settingsOf(scenario, root, more);
  const made = await makeStore(registry, clock);
  const localCache = createLocalCache(settings, { statistics: registry });
  const counters = withLocalCache(made.counters, localCache);
  const store = { ...made, counters, localCache };
  const app = createApp(settings, {
    registry,
    store,
    loads$: createDirectorySource(
      {
        root,
        subdirectory: '',
        appDirectory: 'config',
        ignoreDotFiles: false,
        mergeDomains: scenario.settings['MERGE_DOMAIN_CONFIG'] === 'true',
      },
      {
        parse: parseInProcess,
        compile: (domains) => compileInSlices(domains, 500, settings.decisions),
        clock,
        warn: () => undefined,
      },
    ).loads$,
    clock,
    monotonicMs: () => performance.now() + skippedMs,
    random: Math.random,
    logger: silentLogger,
    outages: createOutageLog({ logger: silentLogger, monotonicMs: () => performance.now() }),
  });
  const addresses = await app.listen();
  await eventually(async () => {
    const { ok } = await fetch(`http://${addresses.http}/healthcheck`);
    if (!ok) throw new Error('the first load is not over');
  });
  // The service waits for its store a moment only.
  await firstValueFrom(store.connected$.pipe(filter(Boolean)));
  const running = { app, addresses, registry, directory, root, skipSecond };
  return createReplayer(running, (seconds) => {
    now = seconds;
  });
}

interface Running {
  readonly app: App;
  readonly addresses: Addresses;
  readonly registry: Registry;
  readonly directory: string;
  readonly root: string;
  readonly skipSecond: () => void;
}

function createReplayer(
  { app, addresses, registry, directory, root, skipSecond }: Running,
  setClock: (seconds: number) => void,
): Replayer {
  const client = new Client(addresses.grpc, credentials.createInsecure());
  const call = (definition: ServiceDefinition[string], message: object): Promise<object> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest<object, object>(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        message,
        (error: ServiceError | null, response) => {
          if (error === null) resolve(response ?? {});
          else reject(error);
        },
      );
    });

  const perform = async (step: Step): Promise<Partial<Step>> => {
    if (step.request !== undefined) return askGrpc(call, step.request);
    if (step.health !== undefined) return askHealth(call, step.health);
    if (step.http !== undefined) return askHttp(addresses.http, step.http);
    if (step.debug !== undefined) return askDebug(addresses.debug, step.debug);
    return step.reload === undefined ? {} : reload(directory, registry, step.reload);
  };
  return {
    registry,
    setClock,
    perform,
    async explain({ request, http }) {
      const isAsked = http?.path === '/json' && http.method === 'POST';
      const body = request ?? (isAsked ? http.body : undefined);
      if (body === undefined) return undefined;
      skipSecond();
      const response = await fetch(`http://${addresses.debug}/api/v1/explain`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Partial<Explanation> };
    },
    async close() {
      client.close();
      await app.stop();
      await rm(root, { recursive: true });
    },
  };
}

/** The scenario's settings, and the addresses that are left to whoever replays. */
function settingsOf(
  { settings }: Scenario,
  root: string,
  more: Readonly<Record<string, string>>,
): Settings {
  const local = { HOST: '127.0.0.1', GRPC_HOST: '127.0.0.1', DEBUG_HOST: '127.0.0.1' };
  const ports = { PORT: '0', GRPC_PORT: '0', DEBUG_PORT: '0' };
  const read = readSettings({
    DISABLE_STATS: 'true',
    RUNTIME_ROOT: root,
    ...local,
    ...ports,
    ...settings,
    ...more,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.settings;
}

type Call = (definition: ServiceDefinition[string], message: object) => Promise<object>;

async function askGrpc(call: Call, request: ProtoRequest): Promise<Partial<Step>> {
  const method = SERVICE['ShouldRateLimit'];
  if (method === undefined) throw new Error('no method ShouldRateLimit');
  try {
    return { response: toProtoJson(await call(method, fromProtoJson(request))) };
  } catch {
    return { error: {} };
  }
}

/** proto3 JSON writes a wrapped number bare. */
function fromProtoJson(request: ProtoRequest): object {
  return {
    ...request,
    descriptors: (request.descriptors ?? []).map(({ hitsAddend, ...descriptor }) => ({
      ...descriptor,
      ...(hitsAddend !== undefined && { hitsAddend: { value: hitsAddend } }),
    })),
  };
}

async function askHealth(call: Call, service: string): Promise<Partial<Step>> {
  try {
    return { response: await call(HEALTH, { service }) };
  } catch {
    return { error: {} };
  }
}

async function askHttp(
  address: string,
  { method, path, body }: NonNullable<Step['http']>,
): Promise<Partial<Step>> {
  const response = await fetch(`http://${address}${path}`, {
    method,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type') ?? '';
  const isJson = contentType.startsWith('application/json');
  return {
    status: response.status,
    contentType,
    body: isJson ? (JSON.parse(text) as unknown) : text,
  };
}

async function askDebug(address: string, path: string): Promise<Partial<Step>> {
  const response = await fetch(`http://${address}${path}`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return { lines: lines.sort() };
}

async function reload(
  directory: string,
  registry: Registry,
  files: NonNullable<Step['reload']>,
): Promise<Partial<Step>> {
  const total = (end: string) => registry.counter(`ratelimit.service.config_load_${end}`).value;
  const before = { success: total('success'), error: total('error') };
  // Without a pause, in which the service, which runs in this process, would see some of the changes.
  for (const [file, text] of Object.entries(files)) {
    if (text === null) {
      rmSync(join(directory, file));
      continue;
    }
    writeFileSync(join(directory, `.${file}.new`), text);
    renameSync(join(directory, `.${file}.new`), join(directory, file));
  }
  return eventually(() => {
    if (total('error') > before.error) return { loads: 'error' as const };
    if (total('success') > before.success) return { loads: 'success' as const };
    throw new Error('the rules were not loaded again');
  });
}

function loadHealth(): ServiceDefinition[string] {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the package names its own file
  const { protoPath } = require('grpc-health-check') as { readonly protoPath: string };
  const { Check } = loadProtos([protoPath])['grpc.health.v1.Health'] as ServiceDefinition;
  if (Check === undefined) throw new Error('no method Check');
  return Check;
}
