import {
  type Setting,
  type Table,
  type Environment,
  isServiceLink,
} from '../platform/env-table/table';
import {
  adminTable,
  debugTable,
  grpcTable,
  grpcTlsTable,
  httpTable,
  boundsTable,
  healthTable,
  checkTable,
} from './servers';
import { backendTable, memoryTable } from './backend';
import { configurationTable, secretsTable, timeZonesTable } from './configuration';
import { loggingTable, decisionLogTable } from './logging';
import { decisionsTable, leasesTable } from './decisions';
import { identityTable } from './identity';
import { memstoreTable } from './memstore';
import { statisticsTable, mogrifierTable } from './statistics';
import { tracingTable, otelTable, otlpForAll, otlpForTraces } from './tracing';
import { responseHeadersTable } from './response-headers';
import {
  kvstoreTable,
  perSecondStoreTable,
  perSecondSwitchTable,
  sharedStoreTable,
} from './kvstore';
import type { Misspelt } from './setting';
import { workersTable } from './workers';
import { xdsTable } from './xds';
import { nearestName } from '../fields/names';

export interface Subject {
  readonly title: string;
  /** Which operators need it: most, some, few, or those of the identity service. */
  readonly need: 'most' | 'some' | 'few' | 'identity';
  readonly settings: readonly Setting<unknown>[];
}

function subject(title: string, need: Subject['need'], ...tables: readonly Table[]): Subject {
  return { title, need, settings: tables.flatMap((table) => Object.values(table)) };
}

function namesOf({ name, aliases }: Setting<unknown>): readonly string[] {
  return [name, ...aliases];
}

/** Every setting, in the order of the help and of the settings page. */
export const SUBJECTS: readonly Subject[] = [
  subject('Configuration loading', 'most', configurationTable),
  subject('Management server (xDS)', 'some', xdsTable),
  subject('Servers', 'most', httpTable, grpcTable, grpcTlsTable, debugTable),
  subject('Checks over HTTP', 'some', checkTable),
  subject('Workers', 'some', workersTable),
  subject('Bounds', 'few', boundsTable),
  subject('Operator API', 'some', adminTable),
  subject('Logging', 'most', loggingTable),
  subject('Health', 'most', healthTable),
  subject('Decisions', 'some', decisionsTable),
  subject('Decision log', 'some', decisionLogTable),
  subject('Secret values', 'few', secretsTable),
  subject('Time zones', 'few', timeZonesTable),
  subject('Response headers', 'some', responseHeadersTable),
  subject('Backend', 'most', backendTable, memoryTable),
  subject('Key-value store', 'most', kvstoreTable, sharedStoreTable),
  subject(
    'Key-value store for limits per second',
    'some',
    perSecondSwitchTable,
    perSecondStoreTable,
  ),
  subject('Leases', 'some', leasesTable),
  subject('Memory-cache store', 'some', memstoreTable),
  subject('Statistics', 'some', statisticsTable, mogrifierTable('<NAME>')),
  subject('Tracing', 'few', tracingTable),
  subject('Tracing: standard settings of OpenTelemetry', 'few', otelTable),
  subject('Tracing: the collector', 'few', otlpForAll),
  subject('Tracing: the collector, for traces alone', 'few', otlpForTraces),
  subject('Identity service', 'identity', identityTable),
];

/** Where rules and counters are. */
const PLACES = [
  configurationTable.runtimeRoot,
  configurationTable.type,
  backendTable.type,
  kvstoreTable.url,
  memstoreTable.nodes,
  memstoreTable.srv,
].flatMap(namesOf);

/** Whether one of these settings is set: its operator deploys by the environment. */
export function deploysBySettings(env: Environment): boolean {
  return PLACES.some((name) => {
    const text = env[name] ?? '';
    return text !== '' && !isServiceLink(name, text);
  });
}

const NAMES = SUBJECTS.flatMap(({ settings }) => settings.flatMap(namesOf)).filter(
  (name) => !name.includes('<'),
);

/** Set by today's deployments and read by no program, not even the reference. */
const IGNORED = 'GRPC_SERVER_TLS_CA_CERT';

const KNOWN = new Set([...NAMES, IGNORED]);

/** First words of our names; `HOST` and `PORT` are whole names: no other name begins with them. */
const PREFIXES = new Set(
  NAMES.filter((name) => name.includes('_')).map((name) => name.slice(0, name.indexOf('_') + 1)),
);

/** Names that Kubernetes derives from a Service: `REDIS_SERVICE_HOST`, `REDIS_PORT_6379_TCP_ADDR`. */
const SERVICE_NAME = /_SERVICE_(?:HOST|PORT(?:_.+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_.+)?)?$/;

/** Names in the reference's README for settings that its code reads under other names, with those. */
const OF_THE_README: readonly (readonly [RegExp, string])[] = [
  [/^DOG_STATSD_MOGRIFIERS$/, 'USE_DOG_STATSD_MOGRIFIERS'],
  [/^DOG_STATSD_MOGRIFIERS_(.+_(?:PATTERN|NAME|TAGS))$/, 'DOG_STATSD_MOGRIFIER_$1'],
];

function meantName(name: string): string | undefined {
  const found = OF_THE_README.find(([pattern]) => pattern.test(name));
  if (found !== undefined) return name.replace(found[0], found[1]);
  const isOurs = PREFIXES.has(name.slice(0, name.indexOf('_') + 1));
  return isOurs ? nearestName(name, NAMES) : undefined;
}

export function misspeltText({ name, meant }: Misspelt): string {
  return `${name} is not a setting: did you mean ${meant}?`;
}

/**
 * Variables with one of our prefixes whose name is within two letters of a setting without being one. Names that Kubernetes derives
 * from Services do not count.
 */
export function findMisspelt(env: Environment): readonly Misspelt[] {
  const found: Misspelt[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || KNOWN.has(name) || SERVICE_NAME.test(name)) continue;
    if (isServiceLink(name, text)) continue;
    const meant = meantName(name);
    if (meant !== undefined) found.push({ name, meant });
  }
  return found;
}
