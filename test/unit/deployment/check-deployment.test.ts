import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { checkDeployment as checkWith } from '../../../src/deployment/check-deployment';
import { DIFFERENCES } from '../../../src/deployment/differences';
import { toFacts } from '../../../src/deployment/facts';
import type { Mount } from '../../../src/deployment/workload';

const FIXTURES = join(__dirname, '../../fixtures/deployments');
const PAGE = readFileSync(join(__dirname, '../../../docs/replacing-the-reference.md'), 'utf8');

const checkDeployment = (paths: readonly string[], input = '') =>
  checkWith(paths, Readable.from(Buffer.from(input)));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deployment-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The lines without the path of the file and the last line, which is the same for all. */
async function linesOf(path: string): Promise<readonly string[]> {
  const { lines } = await checkDeployment([path]);
  return lines.slice(0, -1).map((line) => line.replace(`${path}: `, ''));
}

async function ofText(text: string | Uint8Array, name = 'file.yaml'): Promise<readonly string[]> {
  const path = join(folder, name);
  writeFileSync(path, text);
  return linesOf(path);
}

describe('the table of differences', () => {
  const rows = PAGE.split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:-|The reference|What )/.test(line))
    .map((line) => /^\| (.*?) +\| /.exec(line)?.[1] ?? '');

  it('has every row of the page, each once: a new row says how a deployment shows it, or that none does', () => {
    const entriesOf = (cell: string) => DIFFERENCES.filter(({ row }) => cell.startsWith(row));
    expect(rows.filter((cell) => entriesOf(cell).length !== 1)).toEqual([]);
    expect(rows).toHaveLength(DIFFERENCES.length);
  });
});

interface Shown {
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  readonly mounts?: readonly Mount[];
}

const REDIS = { REDIS_URL: 'redis:6379' };
const MEMCACHED = { MEMCACHE_HOST_PORT: 'memcached:11211' };
const SCRAPED = { USE_PROMETHEUS: 'true' };
const mount = (path: string, ...keys: string[]): Mount => ({
  path,
  keys,
  isConfigMap: true,
  isSubPath: false,
});
const AT_DIRECTORY = '/srv/runtime_data/current/config';

/** By the begin of a row: a workload that is concerned, and one that is not. */
const CASES: readonly (readonly [row: string, concerned: Shown, not: Shown])[] = [
  [
    'with `STOP_CACHE',
    { env: { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true' } },
    { env: { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'false' } },
  ],
  ['with nothing set', {}, { env: { STATSD_HOST: 'statsd' } }],
  ['`DOG_STATSD_MOGRIFIERS`', { env: { USE_DOG_STATSD: 'true', DOG_STATSD_MOGRIFIERS: 'X' } }, {}],
  [
    '`REDIS_PERSECOND_URL` without',
    { env: { ...REDIS, REDIS_PERSECOND_URL: 'b:1' } },
    { env: { ...REDIS, REDIS_PERSECOND_URL: 'b:1', REDIS_PERSECOND: 'true' } },
  ],
  ['a misspelt name', { env: { REDIS_ULR: 'x' } }, {}],
  [
    'the local cache',
    { env: { LOCAL_CACHE_SIZE_IN_BYTES: '1000' } },
    { env: { LOCAL_CACHE_SIZE_IN_BYTES: '0' } },
  ],
  ['its memcached client', { env: MEMCACHED }, { env: REDIS }],
  ['in memcached a counter', { env: { MEMSTORE_HOST_PORT: 'm:1' } }, { env: REDIS }],
  ['every hit sets', { env: { KVSTORE_URL: 'r:1' } }, { env: MEMCACHED }],
  ['in memcached limits', { env: { BACKEND_TYPE: 'memcache', ...MEMCACHED } }, { env: REDIS }],
  ['arguments are', { env: REDIS, words: ['-config', 'x'] }, {}],
  [
    'without `RUNTIME_SUB',
    { env: { ...REDIS, RUNTIME_ROOT: '/d' } },
    { env: { ...REDIS, RUNTIME_ROOT: '/d', RUNTIME_SUBDIRECTORY: '.' } },
  ],
  [
    'hidden directories',
    { mounts: [mount(`${AT_DIRECTORY}/`, 'a.yaml')] },
    { env: { RUNTIME_IGNOREDOTFILES: 'true' }, mounts: [mount(AT_DIRECTORY)] },
  ],
  [
    'a directory of rule files',
    { mounts: [mount('/etc/rules')] },
    { mounts: [mount('/srv/runtime_data/current')] },
  ],
  ['a setting that is an empty', { env: { SHADOW_MODE: '' } }, { env: { SHADOW_MODE: 'true' } }],
  ['`BACKEND_TYPE`', { env: MEMCACHED }, { env: REDIS }],
  ['`REDIS_SOCKET_TYPE`', { env: REDIS }, { env: { ...REDIS, REDIS_SOCKET_TYPE: 'tcp' } }],
  ['`REDIS_URL`', { env: { BACKEND_TYPE: 'redis' } }, { env: { BACKEND_TYPE: 'redis', ...REDIS } }],
  [
    '`REDIS_POOL_ON_EMPTY',
    { env: REDIS },
    { env: { ...REDIS, REDIS_POOL_ON_EMPTY_BEHAVIOR: 'WAIT' } },
  ],
  ['`REDIS_CLUSTER', { env: { ...REDIS, REDIS_TYPE: 'CLUSTER' } }, { env: REDIS }],
  ['`REDIS_STARTUP', { env: REDIS }, { env: { ...REDIS, REDIS_STARTUP_MAX_INTERVAL: '1s' } }],
  ['`XDS_CLIENT', { env: { CONFIG_TYPE: 'GRPC_XDS_SOTW' } }, {}],
  ['`USE_STATSD`', { env: SCRAPED }, { env: { ...SCRAPED, USE_STATSD: 'false' } }],
  [
    '`USE_STATSD=false`',
    { env: { USE_STATSD: 'false' } },
    { env: { ...SCRAPED, USE_STATSD: 'false' } },
  ],
  ['`RUNTIME_WATCH_ROOT`', {}, { env: { CONFIG_TYPE: 'GRPC_XDS_SOTW' } }],
  [
    'names of rule files',
    { mounts: [mount(AT_DIRECTORY, 'notes.md')] },
    { mounts: [mount(AT_DIRECTORY, 'limits')] },
  ],
  ['series of the process', { env: { USE_PULLMETRICS: 'true' } }, {}],
  ['`LOG_LEVEL=debug`', { env: { LOG_LEVEL: 'debug' } }, { env: { LOG_LEVEL: 'info' } }],
  ['series of statsd_exporter', { env: SCRAPED }, {}],
  ['`ratelimit_go_*`', { env: SCRAPED }, {}],
  ['`runtime_load_attempts`', { env: SCRAPED }, {}],
  ['`runtime_load_failures`', { env: SCRAPED }, {}],
  ['`runtime_num_values`', { env: SCRAPED }, {}],
];

describe('a difference that a deployment decides', () => {
  const decided = DIFFERENCES.filter(({ find }) => typeof find === 'function');

  it('has a case below', () => {
    const without = decided.filter(({ row }) => !CASES.some(([begin]) => row.startsWith(begin)));
    expect(without).toEqual([]);
    expect(CASES).toHaveLength(decided.length);
  });

  it.each(CASES)('is said of who is concerned, and of nobody else: %s', (begin, concerned, not) => {
    const [difference] = decided.filter(({ row }) => row.startsWith(begin));
    const found = ({ env = {}, words = [], mounts }: Shown) => {
      const workload = { name: 'w', env: new Map(Object.entries(env)), words, mounts };
      const { find } = difference ?? {};
      return typeof find === 'function' ? find(toFacts(workload)) : 'no such row';
    };
    expect(found(concerned)).toEqual(expect.any(String));
    expect(found(not)).toBeUndefined();
  });
});

describe('a deployment', () => {
  const POOL =
    'REDIS_POOL_ON_EMPTY_BEHAVIOR is not WAIT: one more connection is opened after 1 s unless it says otherwise; newer images of the reference wait, or refuse other values';

  it('may be a composition', async () => {
    expect(await linesOf(join(FIXTURES, 'compose.yml'))).toEqual([
      'service "redis": skipped, nothing says that it is a rate limit service',
      ...[
        'Redis: the first hit sets the life of a counter, later ones do not',
        POOL,
        'REDIS_STARTUP_MAX_INTERVAL is not set: 1s here, 30s in newer images of the reference',
        'USE_STATSD=false: statistics are written to standard output, to standard error in the reference',
        'RUNTIME_WATCH_ROOT: swaps of the root and changes in the directory both reload here, one of them in the reference',
        'LOG_LEVEL=debug: one line for each decision, at most 100 a second',
      ].map((line) => `service "ratelimit": differs: ${line}`),
    ]);
  });

  it('may be what the controller of a gateway makes', async () => {
    const lines = await linesOf(join(FIXTURES, 'gateway.yaml'));
    expect(lines.slice(0, 2)).toEqual([
      'ServiceAccount "ratelimit": skipped, expected a Deployment, StatefulSet, DaemonSet or Pod',
      'Deployment "gateway-ratelimit", container "ratelimit": settings of envFrom, Secret "more", are not checked',
    ]);
    expect(lines.join('\n')).toContain('XDS_CLIENT_BACKOFF_RANDOM_FACTOR is the share of jitter');
    expect(lines.join('\n')).toContain('scrapes have no runtime_load_failures');
    expect(lines.join('\n')).not.toMatch(/refused|RUNTIME_WATCH_ROOT|mounted/);
  });

  it('may be the sample of a mesh, with settings in a ConfigMap of the file', async () => {
    const lines = await linesOf(join(FIXTURES, 'mesh.yaml'));
    expect(lines).toContain(
      'Deployment "ratelimit", container "ratelimit": differs: arguments are ignored with a warning: -config, argument 2 (not shown), --redis-url',
    );
    expect(lines.join('\n')).toContain('memcached: limits per month and per year apply');
    expect(lines.join('\n')).not.toMatch(/mounted|Redis:/);
  });

  it('may be the example of an ingress controller', async () => {
    const text = (await linesOf(join(FIXTURES, 'ingress.yaml'))).join('\n');
    expect(text).toContain('Pod "ratelimit", container "redis": skipped');
    expect(text).toContain('a ConfigMap is mounted at /ratelimit/config: the reference reads');
    expect(text).toContain('differs: not read here: notes.md');
  });

  it('may be a file of settings, and a start that is refused is a mistake', async () => {
    const path = join(FIXTURES, 'settings.env');
    const { lines, mistakes } = await checkDeployment([path]);
    expect(mistakes).toBe(1);
    expect(lines.map((line) => line.replace(`${path}: `, ''))).toEqual(
      expect.arrayContaining([
        'line 7: skipped, expected NAME=value',
        'environment: the start is refused: NEAR_LIMIT_RATIO="2": expected a number from 0 to 1',
        'environment: differs: REDIS_ULR is not a setting: did you mean REDIS_URL?',
        'environment: differs: SHADOW_MODE: empty, which counts as not set here',
        expect.stringContaining('differs: RUNTIME_SUBDIRECTORY is not set') as string,
      ]),
    );
  });

  it('may start a program with arguments alone, which ends at once', async () => {
    const container = { name: 'ratelimit', image: 'envoyproxy/ratelimit:v1', args: ['-config=/a'] };
    const template = (env: object) => ({ spec: { containers: [{ ...container, ...env }] } });
    const manifest = (env: object) =>
      JSON.stringify({
        kind: 'Deployment',
        metadata: { name: 'r' },
        spec: { template: template(env) },
      });
    const alone = await ofText(manifest({ env: [{ name: 'REDIS_HOST', value: 'redis' }] }));
    expect(alone.join('\n')).toMatch(
      /the start is refused: unknown arguments \(-config\), and no setting says where/,
    );
    const deployed = await ofText(manifest({ env: [{ name: 'REDIS_URL', value: 'redis:6379' }] }));
    expect(deployed.join('\n')).toMatch(/differs: arguments are ignored with a warning: -config/);
    expect(deployed.join('\n')).not.toMatch(/refused/);
  });

  it('shows no secret, wherever it stands', async () => {
    const names = ['compose.yml', 'gateway.yaml', 'mesh.yaml', 'ingress.yaml', 'settings.env'];
    const { lines } = await checkDeployment(names.map((name) => join(FIXTURES, name)));
    const more = await ofText(
      [
        'RUNTIME_ROOT=/data',
        ...[
          'REDIS_URL',
          'REDIS_AUTH',
          'MEMCACHE_HOST_PORT',
          'CONFIG_GRPC_XDS_SERVER_URL',
          'EXTRA_TAGS',
        ].map((name) => `${name}=hunter2 hunter2`),
        'CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS=hunter2 hunter2',
        'OTEL_EXPORTER_OTLP_ENDPOINT=hunter2 hunter2',
        'TRACING_ENABLED=true',
        'hunter2',
      ].join('\n'),
    );
    const broken = await ofText('kind: Pod\na: "hunter2\nb: [\n');
    expect(broken[0]).toMatch(/^$|not valid YAML/);
    expect([...lines, ...more, ...broken].join('\n')).not.toContain('hunter');
    expect(more.join('\n')).toContain('refused');
  });

  it.each([
    ['RUNTIME_ROOT=/data\nREDIS_TIMEOUT=${TIMEOUT}\nREDIS_URL=$REDIS\nBACKEND_TYPE=redis', 'a.env'],
    [
      'kind: Pod\nspec: { containers: [{ image: weir, env: [{ name: REDIS_TIMEOUT, valueFrom: { fieldRef: {} } }] }] }',
      'a.yaml',
    ],
  ])('is not refused for values that stand elsewhere', async (text, name) => {
    expect((await ofText(text, name)).join('\n')).not.toContain('refused');
  });
});

describe('containers of a Pod', () => {
  const pod = (spec: object) =>
    ofText(JSON.stringify({ kind: 'Pod', metadata: { name: 'p' }, spec }));
  const own = {
    image: 'envoyproxy/ratelimit:v1',
    env: [{ name: 'REDIS_URL', value: 'redis:6379' }],
  };
  const REDIS_LIFE = 'differs: Redis: the first hit sets the life of a counter, later ones do not';

  it('may begin before the others and go on beside them', async () => {
    const lines = await pod({
      initContainers: [{ ...own, name: 'limits', restartPolicy: 'Always' }],
      containers: [{ name: 'main', image: 'busybox' }],
    });
    expect(lines).toContain(`Pod "p", container "limits": ${REDIS_LIFE}`);
  });

  it('are named where they end before the others start', async () => {
    const lines = await pod({
      initContainers: [{ ...own, name: 'check' }],
      containers: [{ ...own, name: 'limits' }],
    });
    expect(lines).toContain('Pod "p", container "check": skipped, it ends before the others start');
    expect(lines).not.toContain(`Pod "p", container "check": ${REDIS_LIFE}`);
    expect(lines).toContain(`Pod "p", container "limits": ${REDIS_LIFE}`);
  });

  it('name each source of envFrom that is not read, once', async () => {
    const envFrom = [
      { configMapRef: { name: 'a' } },
      { configMapRef: { name: 'a' }, prefix: 'REDIS_' },
      { secretRef: { name: 'b' } },
    ];
    const lines = await pod({ containers: [{ ...own, name: 'limits', envFrom }] });
    expect(lines.filter((line) => line.includes('envFrom'))).toEqual([
      'Pod "p", container "limits": settings of envFrom, ConfigMap "a", which is not in this file, are not checked',
      'Pod "p", container "limits": settings of envFrom, Secret "b", are not checked',
    ]);
  });
});

describe('a setting that stands elsewhere', () => {
  const ELSEWHERE = { valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } };
  const ofPod = async (env: object, more: object = {}) => {
    const given = Object.entries(env).map(([name, value]: [string, unknown]) =>
      typeof value === 'string' ? { name, value } : { name, ...ELSEWHERE },
    );
    const container = { name: 'w', image: 'weir', env: given, ...more };
    const lines = await ofText(JSON.stringify({ kind: 'Pod', spec: { containers: [container] } }));
    return lines.map((line) => line.replace(/^.*container "w": /, '')).join('\n');
  };
  const REDIS = { REDIS_URL: 'redis:6379' };

  it.each([
    ['RUNTIME_ROOT', {}, 'nothing is mounted at'],
    ['RUNTIME_SUBDIRECTORY', { RUNTIME_ROOT: '/data' }, 'nothing is mounted at'],
    ['REDIS_POOL_ON_EMPTY_BEHAVIOR', REDIS, 'REDIS_POOL_ON_EMPTY_BEHAVIOR is not WAIT'],
    [
      'REDIS_CLUSTER_PIPELINE_PARALLELISM',
      { ...REDIS, REDIS_TYPE: 'cluster' },
      'REDIS_CLUSTER_PIPELINE_PARALLELISM is 0',
    ],
    ['DISABLE_STATS', { ...REDIS, USE_STATSD: 'false' }, 'USE_STATSD=false: statistics'],
    ['CONFIG_TYPE', REDIS, 'RUNTIME_WATCH_ROOT: swaps'],
    ['BACKEND_TYPE', REDIS, 'Redis: the first hit sets'],
  ])('leaves open what it decides: %s', async (name, env, text) => {
    expect(await ofPod(env)).toContain(`differs: ${text}`);
    expect(await ofPod({ ...env, [name]: ELSEWHERE })).toContain(`may differ: ${text}`);
  });

  it('leaves open a start that lacks it', async () => {
    const env = { BACKEND_TYPE: 'redis', RUNTIME_SUBDIRECTORY: 'a' };
    const envFrom = [{ secretRef: { name: 'more' } }];
    const problem = 'BACKEND_TYPE="redis": expected KVSTORE_URL to be set';
    expect(await ofPod(env)).toContain(`the start is refused: ${problem}`);
    expect(await ofPod(env, { envFrom })).toContain(`the start may be refused: ${problem}`);
    const args = ['-config', 'x'];
    expect(await ofPod({}, { args })).toContain('the start is refused: unknown arguments');
    expect(await ofPod({}, { args, envFrom })).toContain(
      'the start may be refused: unknown arguments',
    );
  });

  it('leaves warnings open that it takes away, and no others', async () => {
    const env = { ...REDIS, RUNTIME_ROOT: '/d', REDIS_PERSECOND_URL: 'b:1', REDIS_ULR: 'c:1' };
    const text = await ofPod(env, { envFrom: [{ secretRef: { name: 'more' } }] });
    expect(text).toContain('may differ: RUNTIME_SUBDIRECTORY is not set');
    expect(text).toContain('may differ: REDIS_PERSECOND_URL');
    expect(text).toContain('\ndiffers: REDIS_ULR is not a setting');
    expect(text).toContain('\ndiffers: Redis: the first hit sets');
    expect(await ofPod(env)).not.toContain('may differ');
  });
});

describe('a composition', () => {
  const REDIS = 'environment: { REDIS_URL: redis:6379 }';

  it('names the files that it includes', async () => {
    const lines = await ofText('include: [more.yml]');
    expect(lines[0]).toBe('include is not read: name those files too');
    expect(await ofText(`include: [m.yml]\nservices: { weir: { image: weir, ${REDIS} } }`)).toEqual(
      expect.arrayContaining([
        'include is not read: name those files too',
        expect.stringContaining('service "weir": differs: REDIS_STARTUP_MAX_INTERVAL') as string,
      ]),
    );
  });

  it('names the services that extend others, whose settings are unknown', async () => {
    const lines = await ofText(
      `services: { weir: { image: weir, extends: base, ${REDIS} }, more: { extends: { file: a.yml, service: b } } }`,
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'service "weir": extends is not read: check what compose config prints',
        expect.stringContaining('service "weir": may differ: REDIS_STARTUP_MAX') as string,
        'service "more": skipped, nothing says that it is a rate limit service (extends is not read)',
      ]),
    );
  });
});

describe('a file of another system', () => {
  const SETTINGS = 'REDIS_URL=redis:6379\nexport USE_STATSD="false"\n';
  const windows = (text: string) => text.replaceAll('\n', '\r\n');

  it.each([
    ['ends its lines with CR LF', Buffer.from(windows(SETTINGS))],
    ['begins with a byte order mark', Buffer.from(`\ufeff${SETTINGS}`)],
    ['is UTF-16', Buffer.from(`\ufeff${windows(SETTINGS)}`, 'utf16le')],
  ])('is read as any other where it %s', async (_, bytes) => {
    const lines = await ofText(bytes);
    expect(lines).toEqual(await ofText(SETTINGS));
    expect(lines.join('\n')).toContain('differs: USE_STATSD=false');
  });

  it('may be a manifest with a byte order mark and CR LF', async () => {
    const manifest = readFileSync(join(FIXTURES, 'ingress.yaml'), 'utf8');
    expect(await ofText(`\ufeff${windows(manifest)}`)).toEqual(await ofText(manifest));
  });
});

it('is read from the standard input where its name is -', async () => {
  const { lines } = await checkDeployment(['-'], 'USE_STATSD=false\nREDIS_URL=r:6379');
  expect(lines).toContainEqual(
    expect.stringMatching(/^<standard input>: environment: differs: USE_STATSD=false/),
  );
});

describe('a file that is no deployment', () => {
  const EXPECTED = 'expected a manifest of Kubernetes, a composition or a file of NAME=value';

  it.each([
    ['', `the file holds nothing: ${EXPECTED}`],
    ['- a\n- b', `the file holds a list: ${EXPECTED}`],
    ['some words', `the file holds a text: ${EXPECTED}`],
    ['12', `the file holds a number: ${EXPECTED}`],
    [Buffer.from([0x1f, 0x8b, 8, 0xff]), `the file holds no text in UTF-8 or UTF-16: ${EXPECTED}`],
    ['kind: Pod\0', `the file holds no text in UTF-8 or UTF-16: ${EXPECTED}`],
    [
      'a: 1',
      'an object without kind is skipped: expected a manifest of Kubernetes or a composition',
    ],
    ['kind: Pod\n---\n- a', 'a document is skipped: it holds a list, no object'],
    [
      'kind: x: y',
      'not valid YAML (BLOCK_AS_IMPLICIT_KEY) in line 1 or near it: expected rendered manifests, not a template',
    ],
    ['['.repeat(10_000), 'lists and maps are nested too deep'],
    [
      'kind: Secret\nmetadata: { name: s }',
      'Secret "s": skipped, expected a Deployment, StatefulSet, DaemonSet or Pod',
    ],
    ['a: *none', 'an alias of the YAML is unknown, or there are too many'],
    [`# ${'x'.repeat(1_048_576)}`, 'the file is larger than 1 MiB'],
  ])('is named with the reason: %#', async (text, reason) => {
    const path = join(folder, 'file.yaml');
    writeFileSync(path, text);
    const { lines, mistakes } = await checkDeployment([path]);
    expect(lines[0]).toBe(`${path}: ${reason}`);
    expect(mistakes).toBe(1);
  });

  it('may be missing, or no file at all', async () => {
    const missing = join(folder, 'missing');
    const { lines, mistakes } = await checkDeployment([missing, folder]);
    expect(lines[0]).toBe(`${missing}: the file cannot be read: it does not exist (ENOENT)`);
    expect(lines[1]).toMatch(/the file cannot be read/);
    expect(mistakes).toBe(2);
  });
});
