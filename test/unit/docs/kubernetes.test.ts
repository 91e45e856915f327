import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';

interface Port {
  readonly name: string;
  readonly containerPort: number;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Variable {
  readonly name: string;
  readonly value: string;
}
interface Container {
  readonly image: string;
  readonly env: readonly Variable[];
  readonly ports: readonly Port[];
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly securityContext: object;
  readonly [probe: `${string}Probe`]: Probe;
}
interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly resources?: readonly string[];
  readonly data?: Readonly<Record<string, string>>;
}

const ROOT = join(__dirname, '../../../deploy/kubernetes');
const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.yaml'),
);
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const resources = files.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => {
    expect(document.errors).toEqual([]);
    return { file, resource: document.toJS() as Resource };
  }),
);

const API_OF: Readonly<Record<string, string>> = {
  ConfigMap: 'v1',
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  PodMonitor: 'monitoring.coreos.com/v1',
  PrometheusRule: 'monitoring.coreos.com/v1',
  Service: 'v1',
};

const settings = new Map(
  SUBJECTS.flatMap(({ settings }) => settings).flatMap((each) =>
    [each.name, ...each.aliases].map((name) => [name, each] as const),
  ),
);

/** The base holds one resource of a kind. */
function specOf(kind: string): unknown {
  const [found] = resources.filter(
    ({ file, resource }) => file.startsWith('base/') && resource.kind === kind,
  );
  return found?.resource.spec;
}
const { template } = specOf('Deployment') as {
  readonly template: { readonly spec: Readonly<Record<string, unknown>> };
};
const pod = template.spec;
const [container] = pod['containers'] as readonly [Container];
const portOf = (name: string) => container.ports.find((port) => port.name === name)?.containerPort;

it.each(resources.map(({ file, resource }) => [resource.kind, file, resource] as const))(
  'the %s of %s has the version that Kubernetes serves, and a name',
  (kind, _file, { apiVersion, metadata }) => {
    expect(apiVersion).toBe(API_OF[kind]);
    if (kind !== 'Kustomization') expect(metadata?.name).toMatch(/^[a-z-]+$/);
  },
);

it('every file is named by a kustomization, and every file that one names exists', () => {
  const named = resources.flatMap(({ file, resource: { resources: paths = [] } }) =>
    paths.map((path) => join(dirname(file), path)),
  );
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const plain = files.filter((file) => !file.endsWith('kustomization.yaml'));
  expect(plain.filter((file) => !named.includes(file))).toEqual([]);
});

it('ports are those that the service listens on by default', () => {
  const defaults = { http: 'PORT', grpc: 'GRPC_PORT', debug: 'DEBUG_PORT' };
  for (const [port, setting] of Object.entries(defaults))
    expect(String(portOf(port))).toBe(settings.get(setting)?.default);
  expect(`:${String(portOf('metrics'))}`).toBe(settings.get('PULLMETRICS_ADDR')?.default);
  const [endpoint] = (
    specOf('PodMonitor') as {
      readonly podMetricsEndpoints: readonly { port: string; path: string }[];
    }
  ).podMetricsEndpoints;
  expect(endpoint?.port).toBe('metrics');
  expect(endpoint?.path).toBe(settings.get('PULLMETRICS_PATH')?.default);
});

it('each probe asks a path that the HTTP port serves', () => {
  const served = readFileSync(join(__dirname, '../../../docs/endpoints.md'), 'utf8');
  const paths = { startup: '/livez', liveness: '/livez', readiness: '/readyz' };
  for (const [probe, path] of Object.entries(paths)) {
    expect(container[`${probe}Probe`]?.httpGet).toEqual({ path, port: 'http' });
    expect(served).toContain(`| \`${probe}Probe\``);
  }
});

it('every variable is a setting with a value that it takes', () => {
  const gateway = resources.find(({ file }) => file.includes('envoy-gateway-config'));
  const config = parse(gateway?.resource.data?.['envoy-gateway.yaml'] ?? '') as {
    readonly provider: {
      readonly kubernetes: { readonly rateLimitDeployment: { readonly container: Container } };
    };
  };
  const { env } = config.provider.kubernetes.rateLimitDeployment.container;
  expect(env.length).toBeGreaterThan(0);
  for (const list of [container.env, env]) {
    const known = [...settings.keys(), 'NODE_OPTIONS'];
    for (const { name } of list) expect(known).toContain(name);
    // Envoy Gateway adds the address of the store.
    const variables = Object.fromEntries(list.map(({ name, value }) => [name, value]));
    expect(readSettings({ KVSTORE_URL: 'redis:6379', ...variables })).toMatchObject({
      ok: true,
      warnings: [],
    });
  }
});

it('the store has a time-out of less than the 50 ms that a proxy is told to wait', () => {
  const shown = [
    ...files.filter((file) => /deployment|gateway-config/.test(file)).map(read),
    readFileSync(join(ROOT, '../helm/weir/templates/_names.tpl'), 'utf8'),
  ];
  for (const text of shown) expect(text).toMatch(/KVSTORE_TIMEOUT(?:: |, value: )40ms/);
});

/** Folders with a composition: its service and, where it has one, the configuration of its proxy. */
const compositions = ['.', ...readdirSync(join(ROOT, '../../examples')).map((n) => `examples/${n}`)]
  .map((name) => ({ name, folder: join(ROOT, '../..', name) }))
  .filter(({ folder }) => existsSync(join(folder, 'docker-compose.yml')));
const WAITS = /(?:proxy_read_timeout|response_header_timeout) (\d+)ms|timeout: 0\.(\d{3})s/g;

it.each(compositions)('the store of $name has 10 ms less than the proxy waits', ({ folder }) => {
  const { services } = parse(readFileSync(join(folder, 'docker-compose.yml'), 'utf8')) as {
    readonly services: Readonly<Record<string, { environment?: Readonly<Record<string, string>> }>>;
  };
  // The identity service keeps its users in a store, and no proxy waits for that.
  const timeouts = Object.entries(services).flatMap(([name, { environment = {} }]) =>
    environment['KVSTORE_URL'] === undefined || name === 'identity'
      ? []
      : [environment['KVSTORE_TIMEOUT'] ?? ''],
  );
  const waits = ['nginx.conf', 'Caddyfile', 'envoy.yaml']
    .filter((file) => existsSync(join(folder, file)))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(WAITS)])
    .map(([, ofHttp, ofGrpc]) => Number(ofHttp ?? ofGrpc));
  expect(timeouts).not.toEqual([]);
  for (const each of timeouts) {
    expect(each).toMatch(/^\d+ms$/);
    expect(parseInt(each)).toBeLessThanOrEqual(Math.min(250, ...waits) - 10);
  }
});

it('the heap takes half of the memory limit, and what connections hold fits beside it', () => {
  const { value = '' } = container.env.find(({ name }) => name === 'NODE_OPTIONS') ?? {};
  const [, heap] = /--max-old-space-size=(\d+)/.exec(value) ?? [];
  const { memory } = container.resources.limits as { readonly memory: string };
  expect(Number(heap)).toBe(Number(memory.replace('Mi', '')) / 2);
  const held = Number(settings.get('MAX_HELD_BYTES')?.default) / 1_048_576;
  expect(Number(heap) + held).toBeLessThan(Number(memory.replace('Mi', '')));
});

it('the pod may do as little as the restricted standard allows, and has requests and a memory limit', () => {
  expect(pod['securityContext']).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(Object.keys(container.resources.requests)).toEqual(['cpu', 'memory']);
  expect(Object.keys(container.resources.limits)).toEqual(['memory']);
});

it('a pod that stops has the time for its drain and its stop', () => {
  const drain = container.env.find(({ name }) => name === 'DRAIN_DELAY')?.value ?? '';
  expect(pod['terminationGracePeriodSeconds']).toBeGreaterThanOrEqual(parseInt(drain, 10) + 26);
});

it('the network lets nobody at the debug port', () => {
  const { ingress } = specOf('NetworkPolicy') as {
    readonly ingress: readonly {
      readonly ports: readonly { port: number }[];
      readonly from: object[];
    }[];
  };
  const open = ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
  expect(open).toEqual([portOf('grpc'), portOf('http'), portOf('metrics')]);
  for (const { from } of ingress) expect(from.length).toBeGreaterThan(0);
});

it('the PrometheusRule holds the alerts, as `npm run docs` writes them', () => {
  const alerts = readFileSync(join(ROOT, '../prometheus/alerts.yaml'), 'utf8');
  expect(specOf('PrometheusRule')).toEqual(parse(alerts));
});

it('image and chart have the version of the package', () => {
  const text = readFileSync(join(ROOT, '../../package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  expect(container.image).toBe(`weir:${version}`);
  const chart = parse(readFileSync(join(ROOT, '../helm/weir/Chart.yaml'), 'utf8')) as object;
  expect(chart).toMatchObject({ version, appVersion: version });
});
