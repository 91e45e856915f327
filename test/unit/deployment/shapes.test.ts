import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { checkDeployment } from '../../../src/deployment/check-deployment';

/** What is said of the shapes that public deployments have: files of our own, in the form of theirs. */

const FIXTURES = join(__dirname, '../../fixtures/deployments');

interface Said {
  readonly mistakes?: number;
  readonly has: readonly string[];
  /** What must not be said. */
  readonly hasNot?: RegExp;
}

const NO_RULES = 'or around it: unless the image has rules there, the service is not ready';
const TWICE = 'the reference reads every file twice without RUNTIME_IGNOREDOTFILES=true';
const IN_MEMORY = 'counters live in the memory of the process';
const STANDARD_OUTPUT = 'USE_STATSD=false: statistics are written to standard output';
const REDIS_LIFE = 'differs: Redis: the first hit sets the life of a counter, later ones do not';
const NOTHING = 'no rate limit service is in this file';

const SHAPES: Readonly<Record<string, Said>> = {
  'arguments-alone.yaml': {
    mistakes: 1,
    has: [
      'the start is refused: unknown arguments (-configpath), and no setting says where',
      `nothing is mounted at /srv/runtime_data/current/config ${NO_RULES}`,
      IN_MEMORY,
    ],
  },
  'chart-rendered.yaml': {
    has: [
      'Service "limits": skipped',
      REDIS_LIFE,
      'REDIS_STARTUP_MAX_INTERVAL is not set: 1s here',
    ],
    hasNot: /mounted|no output|refused|USE_STATSD/,
  },
  'compose-built.yml': {
    has: [
      'arguments are ignored with a warning: -log-level, --redis-url',
      'RUNTIME_SUBDIRECTORY is not set, without RUNTIME_WATCH_ROOT=false',
    ],
    hasNot: /mounted|refused/,
  },
  'compose-map.yml': {
    has: [
      'service "envoy": skipped',
      'service "limits": env_file is not read: name that file too',
      'service "limits": may differ: REDIS_STARTUP_MAX_INTERVAL is not set',
      REDIS_LIFE,
      'differs: LOG_LEVEL=debug',
    ],
    hasNot: /USE_STATSD|refused/,
  },
  'compose-sentinel.yml': {
    has: [
      REDIS_LIFE,
      'the type of a socket is not set: taken from the address here',
      STANDARD_OUTPUT,
    ],
    hasNot: /mounted|refused|PIPELINE/,
  },
  'compose.yml': { has: ['service "redis": skipped', STANDARD_OUTPUT], hasNot: /may differ/ },
  'exported.json': {
    has: [
      'ReplicaSet "ratelimit-5d8": skipped, expected a Deployment, StatefulSet, DaemonSet or Pod',
      `nothing is mounted at /data/ratelimit/config ${NO_RULES}`,
      'USE_STATSD is not set beside another output: the reference ends its start',
      'scrapes have no runtime_load_attempts',
    ],
  },
  'gateway-settings.yaml': { mistakes: 1, has: ['EnvoyGateway "": skipped', NOTHING] },
  'gateway.yaml': {
    has: [
      'settings of envFrom, Secret "more", are not checked',
      'may differ: REDIS_STARTUP_MAX_INTERVAL is not set',
      'XDS_CLIENT_BACKOFF_RANDOM_FACTOR is the share of jitter here',
    ],
    hasNot: /mounted|RUNTIME_WATCH_ROOT/,
  },
  'ingress.yaml': { has: [`/ratelimit/config: ${TWICE}`, 'differs: not read here: notes.md'] },
  'job.nomad': { mistakes: 1, has: ['the file holds a text: expected a manifest'] },
  'memcached.yaml': {
    has: [
      'Deployment "memcached", container "memcached": skipped',
      'memcached: a counter lives one second longer than its window and the jitter',
      'memcached: limits per month and per year apply',
    ],
    hasNot: /Redis:|BACKEND_TYPE/,
  },
  'mesh.yaml': {
    has: ['arguments are ignored with a warning: -config, argument 2 (not shown), --redis-url'],
    hasNot: /mounted|may differ/,
  },
  'mounted-file.yaml': { has: [STANDARD_OUTPUT, REDIS_LIFE], hasNot: /mounted|refused/ },
  'no-store.yaml': {
    has: [
      `/data/ratelimit/config: ${TWICE}`,
      `differs: BACKEND_TYPE and the addresses of stores are not set: ${IN_MEMORY}`,
    ],
    hasNot: /Redis:/,
  },
  'node-local.yaml': {
    has: [
      'container "store": skipped',
      'LOCAL_CACHE_SIZE_IN_BYTES: a limit that was raised holds at once',
      `nothing is mounted at /data/ratelimit/config ${NO_RULES}`,
    ],
    hasNot: /type of a socket|no output/,
  },
  'operator.yaml': {
    has: [
      'settings of envFrom, ConfigMap "baz-config-env", which is not in this file, are not checked',
      `may differ: BACKEND_TYPE and the addresses of stores are not set: ${IN_MEMORY}`,
      'may differ: no output of statistics is set',
      `may differ: nothing is mounted at /data/ratelimit/config ${NO_RULES}`,
    ],
  },
  'packaged-image.yaml': {
    has: [
      'Job "migrate": skipped',
      'REDIS_CLUSTER_PIPELINE_PARALLELISM is 0: all nodes are asked at the same time',
    ],
    hasNot: /mounted|refused|arguments|USE_STATSD/,
  },
  'secret-address.yaml': { has: ['Secret "store": skipped', STANDARD_OUTPUT], hasNot: /refused/ },
  'settings.env': {
    mistakes: 1,
    has: [
      'the start is refused: NEAR_LIMIT_RATIO="2": expected a number from 0 to 1',
      'REDIS_ULR is not a setting: did you mean REDIS_URL?',
      'SHADOW_MODE: empty, which counts as not set here',
    ],
  },
  'shell-exports.env': {
    has: ['line 10: skipped, expected NAME=value', STANDARD_OUTPUT],
    hasNot: /refused|RUNTIME_SUBDIRECTORY/,
  },
  'shell-start.yaml': {
    has: [`nothing is mounted at /srv/config ${NO_RULES}`, STANDARD_OUTPUT],
    hasNot: /arguments|skipped|refused/,
  },
  'task.json': {
    mistakes: 1,
    has: ['an object without kind is skipped: expected a manifest', NOTHING],
  },
};

it('has a row for each shape, 23 of them', () => {
  expect(Object.keys(SHAPES)).toEqual(readdirSync(FIXTURES).sort());
  expect(Object.keys(SHAPES)).toHaveLength(23);
});

it.each(Object.entries(SHAPES))(
  '%s: what differs is said, and no secret',
  async (file, { mistakes = 0, has, hasNot }) => {
    const outcome = await checkDeployment([join(FIXTURES, file)], Readable.from([]));
    const lines = outcome.lines.slice(0, -1).map((line) => line.slice(FIXTURES.length));
    const text = lines.join('\n').replaceAll(`/${file}: `, '');
    expect(has.filter((said) => !text.includes(said))).toEqual([]);
    if (hasNot !== undefined) expect(text).not.toMatch(hasNot);
    expect(text).not.toContain('hunter');
    expect(outcome.mistakes).toBe(mistakes);
  },
);
