import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { RateLimitConfig, RateLimitDescriptor } from '../../src/rule-sources/xds/messages';
import { eventually } from '../support/edge/eventually';
import { startService, stopServices, type Service } from '../support/edge/service';
import { startAdsServer, type AdsServer } from '../support/edge/xds-server';
import { response } from '../support/xds-messages';

jest.setTimeout(60_000);

const ROOT = join(__dirname, '../..');
const DEPLOY = join(ROOT, 'deploy/kubernetes/overlays/envoy-ai-gateway');

let folder = '';
let server: AdsServer;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-ai-gateway-'));
});
afterEach(async () => {
  await stopServices();
  server.stop();
  rmSync(folder, { recursive: true });
});

/** The shapes that the gateway's translator makes of a QuotaPolicy: one domain, backends, models, buckets of clients. */
const bucket = (requestsPerUnit: number, unit = 'HOUR') => ({
  rateLimit: { unit, requestsPerUnit },
  quotaMode: true,
});
const keyed = (key: string, more: object): RateLimitDescriptor => ({ key, value: key, ...more });
const MODELS: readonly RateLimitDescriptor[] = [
  // A bucket of the model alone.
  { key: 'model_name_override', value: 'small', ...bucket(5) },
  {
    key: 'model_name_override',
    value: 'large',
    descriptors: [
      keyed('rule-0-x-tenant|gold-match-0', bucket(2, 'DAY')),
      // Two headers, one in the other; the last one by its value in the request.
      keyed('rule-1-x-plan|free-match-0', {
        descriptors: [{ key: 'rule-1-x-user-match-1', ...bucket(1, 'MINUTE') }],
      }),
      keyed('rule-2-match-0', { ...bucket(9), shadowMode: true }),
      keyed('rule-3-match--1', bucket(4)),
    ],
  },
  // Of all other models.
  { key: 'model_name_override', ...bucket(3, 'SECOND') },
];
const CONFIG: RateLimitConfig = {
  ...{ name: 'ai-gateway-quota', domain: 'ai-gateway-quota' },
  descriptors: [{ key: 'backend_name', value: 'default/openai', descriptors: MODELS }],
};

/** What the deployment sets, with the overlays of its ConfigMap, or others. */
async function start(overlays = overlaysOfDeployment()): Promise<Service> {
  server = await startAdsServer();
  writeFileSync(join(folder, 'quota.yaml'), overlays);
  const kustomization = parse(readFileSync(join(DEPLOY, 'kustomization.yaml'), 'utf8')) as {
    readonly patches: readonly { readonly patch: string }[];
  };
  const env = kustomization.patches
    .map(({ patch }) => parse(patch) as Deployment | undefined)
    .flatMap((patch) => patch?.spec?.template.spec.containers[0].env ?? []);
  expect(env).toHaveLength(6);
  const service = await startService({
    waitUntilUp: false,
    env: {
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      ...{ CONFIG_GRPC_XDS_SERVER_URL: server.target, RULE_OVERLAYS: folder },
      ...{ BACKEND_TYPE: 'memory', LOG_LEVEL: 'info' },
    },
  });
  const stream = await server.opened(1);
  const { node } = await stream.requested(1);
  expect(node?.id).toBe('envoy-ai-gateway-ratelimit');
  // Before there is a policy it is ready, and the controller silent.
  await eventually(async () => {
    expect((await fetch(`${service.http}/healthcheck`)).status).toBe(200);
  });
  stream.send(response('1', 'n1', [CONFIG]));
  await stream.requested(2);
  expect(stream.requests[1]?.errorDetail).toBeUndefined();
  return service;
}

interface Deployment {
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          { readonly env: readonly { readonly name: string; readonly value: string }[] },
        ];
      };
    };
  };
}

function overlaysOfDeployment(): string {
  const [map] = parseAllDocuments(readFileSync(join(DEPLOY, 'rule-overlays.yaml'), 'utf8'));
  const { data } = map?.toJS() as { readonly data: Readonly<Record<string, string>> };
  return data['quota.yaml'] ?? '';
}

const rulesOf = async ({ debug }: Service) => (await fetch(`${debug}/rlconfig`)).text();
/** As its Envoys ask: a list of entries for each bucket of a client, by the keys of its headers; none: the bucket of the model. */
async function askModel({ http }: Service, model: string, ...buckets: readonly string[]) {
  const entry = (key: string, value = key) => ({ key, value });
  const above = [entry('backend_name', 'default/openai'), entry('model_name_override', model)];
  const lists = buckets.length === 0 ? [above] : buckets.map((key) => [...above, entry(key)]);
  const descriptors = lists.map((entries) => ({ entries }));
  const body = JSON.stringify({ domain: 'ai-gateway-quota', descriptors });
  return (await fetch(`${http}/json`, { method: 'POST', body })).status;
}

it('takes the rules of a QuotaPolicy, with the sliding windows that its page promises', async () => {
  const service = await start();
  const rules = await rulesOf(service);
  expect(rules.trim().split('\n')).toHaveLength(6);
  const [small] = rules.split('\n').filter((line) => line.includes('_small:'));
  expect(small).toContain('unit=HOUR requests_per_unit=5');
  expect(small).toContain('quota_mode: true');
  expect(small).toContain('sliding');
  expect(rules.match(/algorithm by the overlay at quota\.yaml/g)).toHaveLength(5);
  for (let times = 0; times < 5; times += 1) expect(await askModel(service, 'small')).toBe(200);
  expect(await askModel(service, 'small')).toBe(429);
  expect(await askModel(service, 'other')).toBe(200);
});

const GOLD = 'rule-0-x-tenant|gold-match-0';
const DEFAULT = 'rule-3-match--1';

it('refuses a tenant only when all of its buckets are empty, as the gateway asks', async () => {
  const service = await start();
  const statuses = [];
  for (let times = 0; times < 5; times += 1)
    statuses.push(await askModel(service, 'large', GOLD, DEFAULT));
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
});

it('lets an overlay make the bucket of a tenant one that refuses by itself', async () => {
  const page = readFileSync(join(ROOT, 'docs/gateways/envoy-ai-gateway.md'), 'utf8');
  const shown = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)]
    .map(([, block = '']) => block)
    .find((block) => block.startsWith('overlays:'));
  const service = await start(shown);
  const statuses = [];
  for (let times = 0; times < 3; times += 1)
    statuses.push(await askModel(service, 'large', GOLD, DEFAULT));
  expect(statuses).toEqual([200, 200, 429]);
});
