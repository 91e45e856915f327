import { type Address, address } from '../platform/env-table/addresses';
import { boolean } from '../platform/env-table/booleans';
import { listOf } from '../platform/env-table/lists';
import { wholeNumber } from '../platform/env-table/numbers';
import type { Findings, Reading } from '../platform/env-table/read-table';
import { type Description, setting } from '../platform/env-table/setting';
import { path, word } from '../platform/env-table/texts';
import { timerFromZero } from './durations';
import { formerNames } from './former-names';
import { readTlsFiles, type TlsFiles } from './tls';

function named<D extends Description>(name: string, description: D) {
  return { aliases: formerNames(name), ...description };
}

const HOST_PORT = 'MEMSTORE_HOST_PORT';
const SRV = 'MEMSTORE_SRV';
const SRV_REFRESH = 'MEMSTORE_SRV_REFRESH';
const MAX_IDLE_CONNS = 'MEMSTORE_MAX_IDLE_CONNS';
const TLS = 'MEMSTORE_TLS';
const CERT = 'MEMSTORE_TLS_CLIENT_CERT';
const KEY = 'MEMSTORE_TLS_CLIENT_KEY';
const CACERT = 'MEMSTORE_TLS_CACERT';
const SKIP_VERIFICATION = 'MEMSTORE_TLS_SKIP_HOSTNAME_VERIFICATION';

export const memstoreTable = {
  nodes: setting(
    HOST_PORT,
    listOf(address, '<host>:<port>'),
    named(HOST_PORT, { doc: 'the nodes, in the same order for every instance of the service' }),
  ),
  srv: setting(
    SRV,
    word,
    named(SRV, { doc: 'SRV record that names the nodes; exclusive with MEMSTORE_HOST_PORT' }),
  ),
  srvRefreshMs: setting(
    SRV_REFRESH,
    timerFromZero,
    named(SRV_REFRESH, {
      default: '0',
      doc: 'time between two looks at the record; 0 means one',
    }),
  ),
  maxIdleConnections: setting(
    MAX_IDLE_CONNS,
    wholeNumber(0, 10_000),
    named(MAX_IDLE_CONNS, { default: '2', doc: 'connections that are kept for each node' }),
  ),
  tls: setting(TLS, boolean, named(TLS, { default: 'false', doc: 'true speaks TLS to the nodes' })),
  certFile: setting(CERT, path, named(CERT, { doc: 'file with the client certificate' })),
  keyFile: setting(KEY, path, named(KEY, { doc: 'file with the key of the client certificate' })),
  caFile: setting(
    CACERT,
    path,
    named(CACERT, {
      doc: "file with the authority that signs the nodes' certificates",
      whenUnset: "the system's authorities",
    }),
  ),
  skipHostnameVerification: setting(
    SKIP_VERIFICATION,
    boolean,
    named(SKIP_VERIFICATION, {
      default: 'false',
      doc: "true takes a certificate that does not hold the node's name",
    }),
  ),
};

export interface MemstoreSettings {
  readonly nodes:
    | { readonly kind: 'list'; readonly addresses: readonly Address[] }
    | {
        readonly kind: 'srv';
        readonly record: string;
        /** 0: never. */ readonly refreshMs: number;
      };
  readonly maxIdleConnections: number;
  readonly tls: (TlsFiles & { readonly skipHostnameVerification: boolean }) | undefined;
}

export type MemstoreReading = Reading<typeof memstoreTable>;

function toNodes(values: MemstoreReading['values']): MemstoreSettings['nodes'] {
  return values.srv === undefined
    ? { kind: 'list', addresses: values.nodes ?? [] }
    : { kind: 'srv', record: values.srv, refreshMs: values.srvRefreshMs };
}

/** What must hold whichever backend is in use. */
export function checkMemstore(reading: MemstoreReading, findings: Findings): void {
  if (!reading.isSet('nodes') || !reading.isSet('srv')) return;
  findings.problems.push(
    `${reading.shown('nodes')} and ${reading.shown('srv')}: expected only one of them`,
  );
}

export function toMemstore(reading: MemstoreReading, findings: Findings): MemstoreSettings {
  const { maxIdleConnections, tls, skipHostnameVerification } = reading.values;
  return {
    nodes: toNodes(reading.values),
    maxIdleConnections,
    tls: tls ? { ...readTlsFiles(reading, findings), skipHostnameVerification } : undefined,
  };
}
