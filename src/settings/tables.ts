import type { Table } from '../platform/env-table/setting';
import { backendTable } from './backend';
import { boundsTable } from './bounds';
import { configurationTable } from './configuration';
import { decisionsTable } from './decisions';
import { healthTable } from './health';
import { identityTable } from './identity';
import { loggingTable } from './logging';
import { memstoreTable } from './memstore';
import { mogrifierTable } from './mogrifiers';
import { otelTable, otlpForAll, otlpForTraces } from './otel';
import { perSecondStoreTable, perSecondSwitchTable } from './per-second-store';
import { responseHeadersTable } from './response-headers';
import { serversTable } from './servers';
import { statisticsTable } from './statistics';
import { storeTable } from './store';
import { sharedStoreTable } from './store-shared';
import { tracingTable } from './tracing';
import { xdsTable } from './xds';

export interface Subject {
  readonly title: string;
  readonly table: Table;
}

export const kvstoreTable = storeTable('KVSTORE');

/** Every setting there is, in the order of the help and of the settings page. */
export const SUBJECTS: readonly Subject[] = [
  { title: 'Configuration loading', table: configurationTable },
  { title: 'Management server (xDS)', table: xdsTable },
  { title: 'Servers', table: serversTable },
  { title: 'Bounds', table: boundsTable },
  { title: 'Logging', table: loggingTable },
  { title: 'Health', table: healthTable },
  { title: 'Decisions', table: decisionsTable },
  { title: 'Response headers', table: responseHeadersTable },
  { title: 'Backend', table: backendTable },
  { title: 'Key-value store', table: { ...kvstoreTable, ...sharedStoreTable } },
  {
    title: 'Key-value store for limits per second',
    table: { ...perSecondSwitchTable, ...perSecondStoreTable },
  },
  { title: 'Memory-cache store', table: memstoreTable },
  { title: 'Statistics', table: { ...statisticsTable, ...mogrifierTable('<NAME>') } },
  { title: 'Tracing', table: tracingTable },
  { title: 'Tracing: standard settings of OpenTelemetry', table: otelTable },
  { title: 'Tracing: the collector', table: otlpForAll },
  { title: 'Tracing: the collector, for traces alone', table: otlpForTraces },
  { title: 'Identity service', table: identityTable },
];
