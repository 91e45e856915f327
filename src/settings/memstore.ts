import { address } from '../platform/env-table/addresses';
import { boolean, path, wholeNumber, word, listOf } from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/read-table';
import { toTlsFiles } from './client-files';
import { setting, timerFromZero } from './setting';

export const memstoreTable = {
  nodes: setting('MEMSTORE_HOST_PORT', listOf(address, '<host>:<port>'), {
    doc: 'the nodes, in the same order for every instance of the service',
  }),
  srv: setting('MEMSTORE_SRV', word, {
    doc: 'SRV record that names the nodes; exclusive with MEMSTORE_HOST_PORT',
  }),
  srvRefreshMs: setting('MEMSTORE_SRV_REFRESH', timerFromZero, {
    default: '0',
    doc: 'time between two lookups of the record; 0 means one',
  }),
  maxIdleConnections: setting('MEMSTORE_MAX_IDLE_CONNS', wholeNumber(0, 10_000), {
    default: '2',
    doc: 'connections that are kept for each node',
  }),
  tls: setting('MEMSTORE_TLS', boolean, { default: 'false', doc: 'true speaks TLS to the nodes' }),
  certFile: setting('MEMSTORE_TLS_CLIENT_CERT', path, { doc: 'file with the client certificate' }),
  keyFile: setting('MEMSTORE_TLS_CLIENT_KEY', path, {
    doc: 'file with the key of the client certificate',
  }),
  caFile: setting('MEMSTORE_TLS_CACERT', path, {
    doc: "file with the CA certificate that signed the nodes' certificates",
    whenUnset: "the system's certificate authorities",
  }),
  skipHostnameVerification: setting('MEMSTORE_TLS_SKIP_HOSTNAME_VERIFICATION', boolean, {
    default: 'false',
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
  reading.diagnostics.problems.push(
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
