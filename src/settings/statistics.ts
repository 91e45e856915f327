import { host, listenAddress, remotePort } from '../platform/env-table/addresses';
import { boolean } from '../platform/env-table/booleans';
import { listOf, pairs } from '../platform/env-table/lists';
import { wholeNumber } from '../platform/env-table/numbers';
import { setting } from '../platform/env-table/setting';
import { oneOfInAnyCase, path, urlPath, word } from '../platform/env-table/texts';
import { timer } from './durations';
import { formerNames } from './former-names';

const USE_TAGGED = 'USE_TAGGED_STATSD';
const MOGRIFIERS = 'USE_TAGGED_STATSD_MOGRIFIERS';
const USE_PULL = 'USE_PULLMETRICS';
const PULL_ADDR = 'PULLMETRICS_ADDR';
const PULL_PATH = 'PULLMETRICS_PATH';
const PULL_MAPPER = 'PULLMETRICS_MAPPER_YAML';
const PULL_MILLISECONDS = 'PULLMETRICS_RESPONSE_TIME_AS_MILLISECONDS';

export const statisticsTable = {
  useStatsd: setting('USE_STATSD', boolean, {
    default: 'true',
    doc: 'false writes statistics to standard output; gives way to another output when nobody sets it',
  }),
  disableStats: setting('DISABLE_STATS', boolean, {
    default: 'false',
    doc: 'true switches every output off; /stats of the debug server stays',
  }),
  flushIntervalMs: setting('STATS_FLUSH_INTERVAL', timer, {
    default: '10s',
    doc: 'time between two flushes',
  }),
  statsdHost: setting('STATSD_HOST', host, { default: 'localhost', doc: 'host of StatsD' }),
  statsdPort: setting('STATSD_PORT', remotePort, { default: '8125', doc: 'port of StatsD' }),
  statsdProtocol: setting('STATSD_PROTOCOL', oneOfInAnyCase({ tcp: 'tcp', udp: 'udp' }), {
    default: 'tcp',
    doc: 'tcp or udp; statistics with tags go over udp when nobody sets it',
  }),
  extraTags: setting('EXTRA_TAGS', pairs(':'), {
    doc: 'tags of all statistics, k1:v1,k2:v2',
    whenUnset: 'none',
  }),
  maxSeries: setting('STATS_MAX_SERIES', wholeNumber(1), {
    default: '100000',
    doc: 'most series of one metric; the rest is summed in one of its own',
  }),
  useTaggedStatsd: setting(USE_TAGGED, boolean, {
    default: 'false',
    aliases: formerNames(USE_TAGGED),
    doc: 'true sends statistics to StatsD with tags',
  }),
  mogrifierNames: setting(MOGRIFIERS, listOf(word, 'the name of a mogrifier'), {
    aliases: ['TAGGED_STATSD_MOGRIFIERS', ...formerNames(MOGRIFIERS)],
    doc: 'names of mogrifiers, which turn parts of names into tags, in order',
    whenUnset: 'none',
  }),
  usePullMetrics: setting(USE_PULL, boolean, {
    default: 'false',
    aliases: formerNames(USE_PULL),
    doc: 'true serves metrics for a scraper',
  }),
  pullAddress: setting(PULL_ADDR, listenAddress, {
    default: ':9090',
    aliases: formerNames(PULL_ADDR),
    doc: 'address that is scraped',
  }),
  pullPath: setting(PULL_PATH, urlPath, {
    default: '/metrics',
    aliases: formerNames(PULL_PATH),
    doc: 'path that is scraped',
  }),
  pullMapperFile: setting(PULL_MAPPER, path, {
    aliases: formerNames(PULL_MAPPER),
    doc: 'file that maps names of statistics to metrics',
    whenUnset: 'the built-in mapping',
  }),
  pullResponseTimeAsMilliseconds: setting(PULL_MILLISECONDS, boolean, {
    default: 'false',
    aliases: formerNames(PULL_MILLISECONDS),
    doc: 'true gives response times in milliseconds instead of seconds',
  }),
};
