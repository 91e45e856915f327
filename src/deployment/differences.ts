import { nameArguments } from '../platform/flags';
import { type Facts, findLeftOut, findNoMount, findTwice } from './facts';

/**
 * Differences that a deployment does not decide: they concern all, or depend on requests, rules, the store or the files on the
 * disk. `start`: the service itself reports it from its settings.
 */
export type Undecided = 'all' | 'requests' | 'rules' | 'store' | 'files' | 'start';

/** A row of docs/replacing-the-reference.md, and how a deployment shows whether it is concerned. */
export interface Difference {
  /** The beginning of its first cell. */
  readonly row: string;
  /** Undefined: it is not concerned. */
  readonly find: ((facts: Facts) => string | undefined) | Undecided;
}

const when =
  (isConcerned: (facts: Facts) => boolean, text: string) =>
  (facts: Facts): string | undefined =>
    isConcerned(facts) ? text : undefined;

const isRedis = ({ backend }: Facts) => backend === 'redis';
const isMemcache = ({ backend }: Facts) => backend === 'memcache';
const isScraped = ({ isTrue }: Facts) => isTrue('USE_PROMETHEUS');
const OUTPUTS = ['USE_STATSD', 'USE_PROMETHEUS', 'USE_DOG_STATSD', 'DISABLE_STATS', 'STATSD_HOST'];

/** The warnings of the service that match a pattern, and the settings that take them away. */
const warningLike =
  (pattern: RegExp, ...without: readonly string[]) =>
  ({ warnings, has }: Facts): string | undefined => {
    const found = warnings.filter((line) => pattern.test(line)).join('; ');
    without.filter((name) => found.includes(name)).forEach(has);
    return found === '' ? undefined : found;
  };

/** Warnings that a row below includes. */
export const OF_ROWS =
  /reads no rules then|is not a setting|without REDIS_PERSECOND=true|MOGRIFIER|counters live in the memory/;

/** Every row of the page; a test compares the two. */
export const DIFFERENCES: readonly Difference[] = [
  { row: 'an error of the request', find: 'all' },
  { row: 'a store that is a', find: 'all' },
  { row: '`/json` and `/healthcheck` take any method', find: 'all' },
  { row: '400 has a plain text body', find: 'all' },
  { row: 'a request may be of any size', find: 'requests' },
  { row: '`hits_addend` above 2^63 - 1 becomes a negative number', find: 'requests' },
  {
    row: 'with `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT`',
    find: when(
      ({ isTrue }) => isTrue('STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT'),
      'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: hits that are held back count total_hits and within_limit alone, never near_limit',
    ),
  },
  { row: 'an unlimited rule counts nothing', find: 'rules' },
  { row: 'rules are found by `key_value`', find: 'rules' },
  { row: 'the first bad setting ends the start with a stack trace', find: 'all' },
  { row: 'a store that is back may stay unused for up to 30 s', find: 'store' },
  { row: 'the ports open after the first load of the rules', find: 'all' },
  { row: 'health is up once the ports are open', find: 'all' },
  { row: 'SIGHUP is not handled', find: 'all' },
  {
    row: 'with nothing set',
    find: when(
      ({ has }) => !OUTPUTS.some(has),
      'no output of statistics is set: StatsD at localhost:8125 is tried, and warned of once somebody has answered there',
    ),
  },
  { row: '`/stats` prints the command line and memory', find: 'all' },
  {
    row: '`DOG_STATSD_MOGRIFIERS`',
    find: warningLike(/MOGRIFIERS/),
  },
  {
    row: '`REDIS_PERSECOND_URL` without',
    find: warningLike(/without (?:REDIS|KVSTORE)_PERSECOND=true/, 'REDIS_PERSECOND'),
  },
  {
    row: 'a misspelt name (`REDIS_ULR`) is ignored',
    find: warningLike(/is not a setting(?!.*MOGRIFIER)/),
  },
  {
    row: 'the local cache goes on refusing after a limit was raised',
    find: when(
      ({ value }) => Number(value('LOCAL_CACHE_SIZE_IN_BYTES') ?? 0) > 0,
      'LOCAL_CACHE_SIZE_IN_BYTES: a limit that was raised holds at once, where the reference goes on refusing',
    ),
  },
  {
    row: 'its memcached client',
    find: when(isMemcache, 'memcached: give hits back only when all instances are new ones'),
  },
  {
    row: 'in memcached a counter may end',
    find: when(
      isMemcache,
      'memcached: a counter lives one second longer than its window and the jitter',
    ),
  },
  {
    row: 'every hit sets the life of its counter in Redis anew',
    find: when(isRedis, 'Redis: the first hit sets the life of a counter, later ones do not'),
  },
  {
    row: 'in memcached limits per month',
    find: when(
      isMemcache,
      'memcached: limits per month and per year apply, where they never do in the reference',
    ),
  },
  {
    row: 'the metric of a rule with `share_threshold`',
    find: 'rules',
  },
  {
    row: '`detailed_metric` and `value_to_metric`',
    find: 'rules',
  },
  { row: '`is_negative_hits` is not known: the hits are added', find: 'requests' },
  { row: 'a limit in the request', find: 'requests' },
  { row: 'control characters stay in names of metrics', find: 'rules' },
  { row: 'no reflection', find: 'all' },
  {
    row: 'arguments are not read',
    find: ({ workload: { words }, problems }) =>
      words.length === 0 || problems.some((line) => line.startsWith('unknown arguments'))
        ? undefined
        : `arguments are ignored with a warning: ${nameArguments(words)}`,
  },
  {
    row: 'without `RUNTIME_SUBDIRECTORY`',
    find: warningLike(/reads no rules then/, 'RUNTIME_SUBDIRECTORY', 'RUNTIME_WATCH_ROOT'),
  },
  {
    row: 'links to directories',
    find: 'files',
  },
  {
    row: 'hidden directories hold rules',
    find: findTwice,
  },
  {
    row: 'a directory of rule files',
    find: findNoMount,
  },
  {
    row: 'a setting that is an empty string',
    find: ({ empty }) =>
      empty.length === 0 ? undefined : `${empty.join(', ')}: empty, which counts as not set here`,
  },
  {
    row: '`BACKEND_TYPE`',
    find: ({ backend, has }) => {
      if (has('BACKEND_TYPE') || backend === 'redis') return undefined;
      return backend === 'memcache'
        ? 'BACKEND_TYPE is not set: memcached here, since it has an address; redis in the reference'
        : 'BACKEND_TYPE and the addresses of stores are not set: counters live in the memory of the process';
    },
  },
  {
    row: '`REDIS_SOCKET_TYPE`, `REDIS_PERSECOND_SOCKET_TYPE`',
    find: when(
      ({ has }) =>
        (has('REDIS_URL') && !has('REDIS_SOCKET_TYPE')) ||
        (has('REDIS_PERSECOND_URL') && !has('REDIS_PERSECOND_SOCKET_TYPE')),
      'the type of a socket is not set: taken from the address here, unix in the reference',
    ),
  },
  {
    row: '`REDIS_URL`, `REDIS_PERSECOND_URL`',
    find: when(
      ({ backend, has }) => backend === 'redis' && !has('REDIS_URL'),
      'REDIS_URL is not set: it has no default here, a socket below /var/run/nutcracker in the reference',
    ),
  },
  {
    row: '`REDIS_POOL_ON_EMPTY_BEHAVIOR` (both stores)',
    find: when(
      (facts) => isRedis(facts) && facts.value('REDIS_POOL_ON_EMPTY_BEHAVIOR') !== 'WAIT',
      'REDIS_POOL_ON_EMPTY_BEHAVIOR is not WAIT: one more connection is opened after 1 s unless it says otherwise; newer images of the reference wait, or refuse other values',
    ),
  },
  {
    row: '`REDIS_CLUSTER_PIPELINE_PARALLELISM` (both stores)',
    find: when(
      ({ value }) =>
        Number(value('REDIS_CLUSTER_PIPELINE_PARALLELISM') ?? 0) === 0 &&
        /cluster/i.test(value('REDIS_TYPE') ?? ''),
      'REDIS_CLUSTER_PIPELINE_PARALLELISM is 0: all nodes are asked at the same time',
    ),
  },
  {
    row: '`REDIS_STARTUP_MAX_INTERVAL`',
    find: when(
      (facts) => isRedis(facts) && !facts.has('REDIS_STARTUP_MAX_INTERVAL'),
      'REDIS_STARTUP_MAX_INTERVAL is not set: 1s here, 30s in newer images of the reference',
    ),
  },
  {
    row: '`XDS_CLIENT_BACKOFF_RANDOM_FACTOR`',
    find: when(
      ({ readsFiles }) => !readsFiles,
      'XDS_CLIENT_BACKOFF_RANDOM_FACTOR is the share of jitter here; in the reference it multiplies each wait',
    ),
  },
  {
    row: '`USE_STATSD`',
    find: when(
      ({ has, isTrue }) =>
        !has('USE_STATSD') && (isTrue('USE_PROMETHEUS') || isTrue('USE_DOG_STATSD')),
      'USE_STATSD is not set beside another output: the reference ends its start, here StatsD gives way',
    ),
  },
  {
    row: '`USE_STATSD=false`',
    find: when(
      ({ isFalse, isTrue }) =>
        isFalse('USE_STATSD') &&
        !['USE_PROMETHEUS', 'USE_DOG_STATSD', 'DISABLE_STATS'].some(isTrue),
      'USE_STATSD=false: statistics are written to standard output, to standard error in the reference',
    ),
  },
  {
    row: '`RUNTIME_WATCH_ROOT`',
    find: when(
      ({ readsFiles }) => readsFiles,
      'RUNTIME_WATCH_ROOT: swaps of the root and changes in the directory both reload here, one of them in the reference',
    ),
  },
  { row: 'names of rule files', find: findLeftOut },
  { row: 'lines of the log', find: 'all' },
  {
    row: 'series of the process for scrapes',
    find: when(isScraped, 'scrapes have process_* and nodejs_*, not go_* and promhttp_*'),
  },
  { row: '`ratelimit-client`', find: 'all' },
  {
    row: '`LOG_LEVEL=debug`',
    find: when(
      ({ value }) => /^(?:debug|trace)$/i.test(value('LOG_LEVEL') ?? ''),
      'LOG_LEVEL=debug: one line for each decision, at most 100 a second',
    ),
  },
  { row: 'values that mean nothing', find: 'start' },
  {
    row: 'series of statsd_exporter for scrapes',
    find: when(isScraped, 'scrapes have no statsd_exporter_*'),
  },
  { row: '`ratelimit_go_*`', find: when(isScraped, 'scrapes have no ratelimit_go_*') },
  {
    row: '`runtime_load_attempts`',
    find: when(
      isScraped,
      'scrapes have no runtime_load_attempts: take ratelimit_service_config_load_success and _error together',
    ),
  },
  {
    row: '`runtime_load_failures`',
    find: when(
      isScraped,
      'scrapes have no runtime_load_failures: take ratelimit_service_config_load_error, or weir_rules_load_failing',
    ),
  },
  { row: '`runtime_num_values`', find: when(isScraped, 'scrapes have no runtime_num_values') },
];
