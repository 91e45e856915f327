import { address } from '../platform/env-table/addresses';
import { boolean, path, wholeNumber, word, listOf } from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/table';
import { toTlsFiles } from './client-files';
import { optional, setting, timerFromZero } from './setting';

export const memstoreTable = {
  nodes: optional('MEMSTORE_HOST_PORT', listOf(address, '<host>:<port>'), 'unset', {
    doc: 'the nodes, in the same order for every instance of the service',
  }),
  srv: optional('MEMSTORE_SRV', word, 'unset', {
    doc: 'SRV record that names the nodes; exclusive with MEMSTORE_HOST_PORT',
  }),
  srvRefreshMs: setting('MEMSTORE_SRV_REFRESH', timerFromZero, '0', {
    doc: 'time between two lookups of the record; 0 means one',
  }),
  maxIdleConnections: setting('MEMSTORE_MAX_IDLE_CONNS', wholeNumber(0, 10_000), '2', {
    doc: 'connections that are kept for each node',
  }),
  tls: setting('MEMSTORE_TLS', boolean, 'false', { doc: 'true speaks TLS to the nodes' }),
  certFile: optional('MEMSTORE_TLS_CLIENT_CERT', path, 'unset', {
    doc: 'file with the client certificate',
  }),
  keyFile: optional('MEMSTORE_TLS_CLIENT_KEY', path, 'unset', {
    doc: 'file with the key of the client certificate',
  }),
  caFile: optional('MEMSTORE_TLS_CACERT', path, "the system's certificate authorities", {
    doc: "file with the CA certificate that signed the nodes' certificates",
  }),
  skipHostnameVerification: setting('MEMSTORE_TLS_SKIP_HOSTNAME_VERIFICATION', boolean, 'false', {
    doc: "true accepts a certificate without the node's name",
  }),
};

export type MemstoreReading = TableReading<typeof memstoreTable>;

function toNodes(values: MemstoreReading['values']) {
  if (values.srv === undefined) return { kind: 'list', addresses: values.nodes ?? [] } as const;
  return { kind: 'srv', record: values.srv, refreshMs: values.srvRefreshMs } as const;
}

/** Constraints that apply with any backend. */
export function checkMemstore(reading: MemstoreReading): void {
  if (!reading.isSet('nodes') || !reading.isSet('srv')) return;
  reading.problem(
    `${reading.describe('nodes')} and ${reading.describe('srv')}: expected only one of them`,
  );
}

export function toMemstore(reading: MemstoreReading) {
  const { maxIdleConnections, tls, skipHostnameVerification } = reading.values;
  return {
    nodes: toNodes(reading.values),
    maxIdleConnections,
    tls: tls ? { ...toTlsFiles(reading), skipHostnameVerification } : undefined,
  };
}

export type MemstoreSettings = ReturnType<typeof toMemstore>;
