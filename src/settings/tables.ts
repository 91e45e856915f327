import type { Setting, Table } from '../platform/env-table/setting';
import { adminTable } from './admin';
import { backendTable, memoryTable } from './backend';
import { boundsTable } from './bounds';
import { checkTable } from './check';
import { configurationTable } from './configuration';
import { decisionLogTable } from './decision-log';
import { decisionsTable } from './decisions';
import { healthTable } from './health';
import { identityTable } from './identity';
import { leasesTable } from './leases';
import { loggingTable } from './logging';
import { memstoreTable } from './memstore';
import { mogrifierTable } from './mogrifiers';
import { otelTable, otlpForAll, otlpForTraces } from './otel';
import { responseHeadersTable } from './response-headers';
import { secretsTable } from './secrets';
import { debugTable, grpcTable, grpcTlsTable, httpTable } from './servers';
import { statisticsTable } from './statistics';
import { kvstoreTable, perSecondStoreTable } from './store';
import { perSecondSwitchTable, sharedStoreTable } from './store-shared';
import { timeZonesTable } from './time-zones';
import { tracingTable } from './tracing';
import { workersTable } from './workers';
import { xdsTable } from './xds';

export interface Subject {
  readonly title: string;
  /** Which operators need it: most, some, few, or those of the identity service. */
  readonly need: 'most' | 'some' | 'few' | 'identity';
  readonly settings: readonly Setting<unknown>[];
}

function subject(title: string, need: Subject['need'], ...tables: readonly Table[]): Subject {
  return { title, need, settings: tables.flatMap((table) => Object.values(table)) };
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
