import type { Table } from '../platform/env-table/setting';
import { adminTable } from './admin';
import { backendTable } from './backend';
import { boundsTable } from './bounds';
import { configurationTable } from './configuration';
import { decisionLogTable } from './decision-log';
import { decisionsTable } from './decisions';
import { healthTable } from './health';
import { identityTable } from './identity';
import { loggingTable } from './logging';
import { memstoreTable } from './memstore';
import { mogrifierTable } from './mogrifiers';
import { otelTable, otlpForAll, otlpForTraces } from './otel';
import { responseHeadersTable } from './response-headers';
import { secretsTable } from './secrets';
import { serversTable } from './servers';
import { statisticsTable } from './statistics';
import { kvstoreTable, perSecondStoreTable } from './store';
import { perSecondSwitchTable, sharedStoreTable } from './store-shared';
import { tracingTable } from './tracing';
import { workersTable } from './workers';
import { xdsTable } from './xds';

export interface Subject {
  readonly title: string;
  /** Which operators need it: most, some, few, or those of the identity service. */
  readonly need: 'most' | 'some' | 'few' | 'identity';
  readonly table: Table;
}

/** Every setting there is, in the order of the help and of the settings page. */
export const SUBJECTS: readonly Subject[] = [
  { title: 'Configuration loading', need: 'most', table: configurationTable },
  { title: 'Management server (xDS)', need: 'some', table: xdsTable },
  { title: 'Servers', need: 'most', table: serversTable },
  { title: 'Workers', need: 'some', table: workersTable },
  { title: 'Bounds', need: 'few', table: boundsTable },
  { title: 'Operator API', need: 'some', table: adminTable },
  { title: 'Logging', need: 'most', table: loggingTable },
  { title: 'Health', need: 'most', table: healthTable },
  { title: 'Decisions', need: 'some', table: decisionsTable },
  { title: 'Decision log', need: 'some', table: decisionLogTable },
  { title: 'Secret values', need: 'few', table: secretsTable },
  { title: 'Response headers', need: 'some', table: responseHeadersTable },
  { title: 'Backend', need: 'most', table: backendTable },
  { title: 'Key-value store', need: 'most', table: { ...kvstoreTable, ...sharedStoreTable } },
  {
    title: 'Key-value store for limits per second',
    need: 'some',
    table: { ...perSecondSwitchTable, ...perSecondStoreTable },
  },
  { title: 'Memory-cache store', need: 'some', table: memstoreTable },
  { title: 'Statistics', need: 'some', table: { ...statisticsTable, ...mogrifierTable('<NAME>') } },
  { title: 'Tracing', need: 'few', table: tracingTable },
  { title: 'Tracing: standard settings of OpenTelemetry', need: 'few', table: otelTable },
  { title: 'Tracing: the collector', need: 'few', table: otlpForAll },
  { title: 'Tracing: the collector, for traces alone', need: 'few', table: otlpForTraces },
  { title: 'Identity service', need: 'identity', table: identityTable },
];
