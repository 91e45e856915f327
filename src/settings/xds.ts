import {
  boolean,
  decimalNumber,
  path,
  text,
  wholeNumber,
  word,
  pairs,
} from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/table';
import { toTlsFiles } from './client-files';
import { optional, setting, timer } from './setting';

const ANY_FACTOR = 1_000_000;

export const xdsTable = {
  nodeId: setting('CONFIG_GRPC_XDS_NODE_ID', text, 'default', {
    emptyIsValue: true,
    doc: 'node id that the management server sees; may be empty',
  }),
  nodeMetadata: optional('CONFIG_GRPC_XDS_NODE_METADATA', pairs('='), 'none', {
    doc: 'node metadata, k=v,k=v',
  }),
  serverTarget: setting('CONFIG_GRPC_XDS_SERVER_URL', word, 'localhost:18000', {
    doc: 'address of the management server',
  }),
  connectRetryIntervalMs: setting('CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL', timer, '3s', {
    doc: 'time between attempts until the first answer of the management server',
  }),
  backoffJitter: setting('XDS_CLIENT_BACKOFF_JITTER', boolean, 'true', {
    doc: 'true adds jitter to the waits',
  }),
  backoffInitialMs: setting('XDS_CLIENT_BACKOFF_INITIAL_INTERVAL', timer, '10s', {
    doc: 'first wait before connecting again',
  }),
  backoffMaxMs: setting('XDS_CLIENT_BACKOFF_MAX_INTERVAL', timer, '60s', {
    doc: 'longest wait before connecting again',
  }),
  backoffRandomFactor: setting(
    'XDS_CLIENT_BACKOFF_RANDOM_FACTOR',
    decimalNumber(0, ANY_FACTOR),
    '0.5',
    { doc: 'share of a wait that jitter may add or take away; more than 1 counts as 1' },
  ),
  maxMessageSizeBytes: optional('XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES', wholeNumber(0), '0', {
    doc: 'largest message that is received, in bytes; 0 means the default of gRPC, 4 MiB',
  }),
  useTls: setting('CONFIG_GRPC_XDS_SERVER_USE_TLS', boolean, 'false', {
    doc: 'true speaks TLS to the management server',
  }),
  certFile: optional('CONFIG_GRPC_XDS_CLIENT_TLS_CERT', path, 'unset', {
    doc: 'file with the client certificate',
  }),
  keyFile: optional('CONFIG_GRPC_XDS_CLIENT_TLS_KEY', path, 'unset', {
    doc: 'file with the key of the client certificate',
  }),
  caFile: optional(
    'CONFIG_GRPC_XDS_SERVER_TLS_CACERT',
    path,
    "the system's certificate authorities",
    { doc: "file with the CA certificate that signed the server's certificate" },
  ),
  serverName: optional(
    'CONFIG_GRPC_XDS_SERVER_TLS_SAN',
    word,
    'the host of CONFIG_GRPC_XDS_SERVER_URL',
    { doc: "name to look for in the server's certificate" },
  ),
  additionalHeaders: optional('CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS', pairs(':'), 'none', {
    secret: true,
    doc: 'headers of the requests to the management server, k1:v1,k2:v2',
  }),
};

/** Names that the gRPC library accepts as metadata: it would show the value in its error. */
const HEADER_NAME = /^(?!.*-bin$)[\w.-]+$/i;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

function checkHeaders(reading: TableReading<typeof xdsTable>): void {
  const headers = Object.entries(reading.values.additionalHeaders ?? {});
  if (headers.every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value))) return;
  const names = 'names of letters, digits, "-", "_" and "." that do not end in -bin';
  reading.refuse('additionalHeaders', `${names}, and values of printable ASCII`);
}

export function toXds(reading: TableReading<typeof xdsTable>) {
  const { values } = reading;
  const { nodeId, serverTarget, connectRetryIntervalMs, serverName } = values;
  checkHeaders(reading);
  return {
    nodeId,
    nodeMetadata: values.nodeMetadata ?? {},
    serverTarget,
    connectRetryIntervalMs,
    backoff: {
      initialMs: values.backoffInitialMs,
      maxMs: values.backoffMaxMs,
      jitter: values.backoffJitter ? Math.min(values.backoffRandomFactor, 1) : 0,
    },
    maxMessageSizeBytes: values.maxMessageSizeBytes === 0 ? undefined : values.maxMessageSizeBytes,
    tls: values.useTls ? { ...toTlsFiles(reading), serverName } : undefined,
    additionalHeaders: values.additionalHeaders ?? {},
  };
}
