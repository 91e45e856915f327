import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  PodMonitor,
  PrometheusRule,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { parseAllDocuments, stringify } from 'yaml';
import { readSettings } from '../../src/settings/settings';
import { PROGRAMS } from '../support/edge/programs';

const CHART = join(__dirname, '../../deploy/helm/weir');
const BASE = join(__dirname, '../../deploy/kubernetes/base');
const AI_GATEWAY = join(BASE, '../overlays/envoy-ai-gateway');
const SERVICE = 'envoy-ai-gateway-ratelimit';
const run = promisify(execFile);

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
interface Deployment extends Resource {
  readonly spec: { readonly template: { readonly spec: Pod } };
}
interface Pod {
  readonly containers: readonly [
    {
      readonly image: string;
      readonly env: { readonly name: string; readonly value: string }[];
      readonly volumeMounts: readonly { readonly mountPath: string }[];
    },
  ];
  readonly volumes: readonly { readonly secret?: { readonly secretName: string } }[];
}

const helm = PROGRAMS.helm();
const kustomize = PROGRAMS.kustomize();
const validate = PROGRAMS.kubernetesValidate();
const itWithTools = helm && kustomize && validate ? it : it.skip;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-kubernetes-'));
});
afterAll(() => rm(folder, { recursive: true }));

const readAll = (text: string) =>
  parseAllDocuments(text).map((document) => document.toJS() as Resource);

/** By kind, the variables of the container by name: their order means nothing. */
function byKind(resources: readonly Resource[]): Readonly<Record<string, Resource>> {
  for (const resource of resources)
    if (resource.kind === 'Deployment') {
      const [{ env }] = (resource as Deployment).spec.template.spec.containers;
      env.sort((one, other) => (one.name < other.name ? -1 : 1));
    }
  return Object.fromEntries(resources.map((resource) => [resource.kind, resource]));
}

async function renderChart(values: object = {}): Promise<readonly Resource[]> {
  const file = join(folder, 'values.yaml');
  await writeFile(file, stringify(values));
  return renderWith(file);
}

async function renderWith(file: string, release = 'ratelimit'): Promise<readonly Resource[]> {
  const words = ['template', release, CHART, '--kube-version', '1.31.0', '--values', file];
  return readAll((await run(helm ?? '', words)).stdout);
}

function variablesOf(resources: readonly Resource[]): Readonly<Record<string, string>> {
  const deployment = resources.find(({ kind }) => kind === 'Deployment') as Deployment;
  const [{ env }] = deployment.spec.template.spec.containers;
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** Against the schemas of Kubernetes, strictly, and of the Prometheus Operator. */
async function expectValid(resources: readonly Resource[]): Promise<void> {
  const others = resources.filter(({ kind }) => kind !== 'PodMonitor' && kind !== 'PrometheusRule');
  const file = join(folder, 'resources.yaml');
  await writeFile(file, others.map((resource) => stringify(resource)).join('---\n'));
  await run(validate ?? '', ['--strict', '--quiet', file]);
  for (const resource of resources) {
    if (resource.kind === 'PodMonitor') new PodMonitor(resource as never).validate();
    if (resource.kind === 'PrometheusRule') new PrometheusRule(resource as never).validate();
  }
}

itWithTools(
  'the chart makes the objects of the kustomization, and all of them are valid',
  async () => {
    const base = readAll((await run(kustomize ?? '', ['build', BASE])).stdout);
    const chart = await renderChart();
    expect(base).toHaveLength(8);
    expect(byKind(chart)).toEqual(byKind(base));
    await expectValid(chart);
  },
  400_000,
);

itWithTools(
  'the chart takes Redis, TLS, settings and all that can be left out from its values',
  async () => {
    const resources = await renderChart({
      image: { repository: 'registry.example/weir', digest: `sha256:${'0'.repeat(64)}` },
      rules: { 'shop.yaml': 'domain: shop\n' },
      redis: {
        url: 'main,sentinel:26379',
        type: 'sentinel',
        auth: { secretName: 'redis-password', key: 'text' },
        tls: { enabled: true, caSecretName: 'redis-authority' },
      },
      tls: { secretName: 'ratelimit-tls', clientCaSecretName: 'proxies' },
      settings: { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', DRAIN_DELAY: '5s' },
      autoscaling: { enabled: false },
      networkPolicy: { enabled: false },
      podMonitor: { labels: { release: 'prometheus' } },
      dashboard: { enabled: true },
    });
    await expectValid(resources);
    expect(resources.map(({ kind, metadata: { name } }) => `${kind} ${name}`).sort()).toEqual([
      'ConfigMap ratelimit-dashboard',
      'ConfigMap ratelimit-rules',
      'Deployment ratelimit',
      'PodDisruptionBudget ratelimit',
      'PodMonitor ratelimit',
      'PrometheusRule ratelimit',
      'Service ratelimit',
    ]);
    const deployment = resources.find(({ kind }) => kind === 'Deployment') as Deployment;
    const { containers, volumes } = deployment.spec.template.spec;
    const [{ image, env, volumeMounts }] = containers;
    expect(deployment.spec).toMatchObject({ replicas: 2 });
    expect(image).toBe(`registry.example/weir@sha256:${'0'.repeat(64)}`);
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    expect(variables).toMatchObject({
      KVSTORE_TYPE: 'sentinel',
      KVSTORE_AUTH_FILE: '/etc/weir/redis-auth/text',
      KVSTORE_TLS_CACERT: '/etc/weir/redis-ca/ca.crt',
      GRPC_SERVER_TLS_CERT: '/etc/weir/tls/tls.crt',
      GRPC_CLIENT_TLS_CACERT: '/etc/weir/client-ca/ca.crt',
      LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
      DRAIN_DELAY: '5s',
    });
    expect(readSettings(variables)).toMatchObject({ ok: true, warnings: [] });
    const secrets = volumes.flatMap(({ secret }) => (secret ? [secret.secretName] : []));
    expect(secrets.sort()).toEqual([
      'proxies',
      'ratelimit-tls',
      'redis-authority',
      'redis-password',
    ]);
    for (const path of Object.values(variables).filter((value) => value.startsWith('/etc/weir/')))
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(
        path.replace(/\/[^/]*$/, ''),
      );
  },
);

itWithTools(
  'the service of Envoy AI Gateway has the name, the node and the overlays that it needs',
  async () => {
    const built = readAll((await run(kustomize ?? '', ['build', AI_GATEWAY])).stdout);
    const chart = await renderWith(join(CHART, 'envoy-ai-gateway.yaml'), SERVICE);
    const [own, ofChart] = [variablesOf(built), variablesOf(chart)];
    expect({ ...ofChart, RULE_OVERLAYS: own['RULE_OVERLAYS'] }).toEqual(own);
    expect(readSettings(own)).toMatchObject({ ok: true, warnings: [] });
    for (const resources of [built, chart]) {
      await expectValid(resources);
      const names = resources.map(({ kind, metadata: { name } }) => `${kind} ${name}`);
      expect(names).toContain(`Service ${SERVICE}`);
      expect(names).toContain(`Deployment ${SERVICE}`);
      expect(names.filter((name) => name.startsWith('ConfigMap'))).toHaveLength(1);
      const maps = resources.filter(({ kind }) => kind === 'ConfigMap') as unknown as readonly {
        readonly data: Readonly<Record<string, string>>;
      }[];
      expect(maps.map(({ data }) => Object.keys(data))).toEqual([['quota.yaml']]);
    }
    expect(built.map(({ metadata }) => metadata.namespace)).toEqual(
      built.map(() => 'envoy-gateway-system'),
    );
  },
);
