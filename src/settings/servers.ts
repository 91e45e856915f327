import { isIPv4 } from 'node:net';
import { host, listenPort } from '../platform/env-table/addresses';
import {
  boolean,
  fileMode,
  oneOf,
  path,
  word,
  wholeNumber,
  duration,
  listOf,
} from '../platform/env-table/parsers';
import type { TableReading, Values } from '../platform/env-table/table';
import { type Read, optional, setting, timerFromZero } from './setting';

export const httpTable = {
  host: setting('HOST', host, '0.0.0.0', { doc: 'address of the HTTP server' }),
  port: setting('PORT', listenPort, '8080', { doc: 'port of the HTTP server' }),
};

export const grpcTable = {
  host: setting('GRPC_HOST', host, '0.0.0.0', { doc: 'address of the gRPC server' }),
  port: setting('GRPC_PORT', listenPort, '8081', { doc: 'port of the gRPC server' }),
  unixSocket: optional('GRPC_UDS', path, 'unset', {
    doc: 'path of a unix socket for the gRPC server, in place of GRPC_HOST and GRPC_PORT',
  }),
  unixSocketMode: setting('GRPC_UDS_MODE', fileMode, '0666', {
    doc: 'file mode of that socket, in octal',
  }),
  transport: setting('GRPC_TRANSPORT', oneOf('wire', 'grpc-js'), 'wire', {
    doc: 'engine of the gRPC server: the built-in one, or the library @grpc/grpc-js',
  }),
  reflection: setting('GRPC_REFLECTION', boolean, 'true', {
    doc: 'false removes the reflection services, which grpcurl asks for descriptors',
  }),
  // These two may exceed the maximum of a timer of Node (2^31 - 1 ms).
  maxConnectionAgeMs: setting('GRPC_MAX_CONNECTION_AGE', duration(), '24h', {
    doc: 'age (± 10 %) at which a gRPC connection is sent GOAWAY; 0 means never',
  }),
  maxConnectionAgeGraceMs: setting('GRPC_MAX_CONNECTION_AGE_GRACE', duration(), '1h', {
    doc: 'time after which such a connection is closed; 0 means never',
  }),
};

export const grpcTlsTable = {
  useTls: setting('GRPC_SERVER_USE_TLS', boolean, 'false', { doc: 'true serves gRPC over TLS' }),
  certFile: optional('GRPC_SERVER_TLS_CERT', path, 'unset', {
    doc: "file with the server's certificate chain",
  }),
  keyFile: optional('GRPC_SERVER_TLS_KEY', path, 'unset', {
    doc: "file with the server's private key",
  }),
  clientCaFile: optional('GRPC_CLIENT_TLS_CACERT', path, 'unset', {
    doc: 'file with the CA certificate that signs client certificates; when set, clients must present one',
  }),
  clientName: optional('GRPC_CLIENT_TLS_SAN', word, 'any', {
    doc: 'DNS name that a client certificate must have',
  }),
};

export const debugTable = {
  host: setting('DEBUG_HOST', host, '0.0.0.0', { doc: 'address of the debug server' }),
  port: setting('DEBUG_PORT', listenPort, '6070', { doc: 'port of the debug server' }),
};

type GrpcTlsReading = TableReading<typeof grpcTlsTable>;

/** Each of these concerns TLS, which is off without GRPC_SERVER_USE_TLS. */
function warnOfUnusedTls({ isSet, describe, warn }: GrpcTlsReading): void {
  for (const key of ['certFile', 'keyFile', 'clientCaFile', 'clientName'] as const) {
    if (!isSet(key)) continue;
    const effect = key.startsWith('client') ? 'no client is checked' : 'the port serves plain text';
    warn(`${describe(key)} has no effect without GRPC_SERVER_USE_TLS=true, so ${effect}`);
  }
}

function toGrpcTls(reading: GrpcTlsReading) {
  const { useTls, certFile, keyFile, clientCaFile, clientName } = reading.values;
  if (!useTls) {
    warnOfUnusedTls(reading);
    return undefined;
  }
  for (const key of ['certFile', 'keyFile'] as const)
    if (!reading.isSet(key)) reading.refuse('useTls', `${reading.describe(key)} to be set`);
  if (reading.isSet('clientName') && !reading.isSet('clientCaFile'))
    reading.refuse('clientName', `${reading.describe('clientCaFile')} to be set too`);
  return { certFile: certFile ?? '', keyFile: keyFile ?? '', clientCaFile, clientName };
}

export function readServers(read: Read) {
  const http = read(httpTable).values;
  const grpc = read(grpcTable).values;
  const tls = read(grpcTlsTable);
  const debug = read(debugTable).values;
  return { http, grpc: { ...grpc, tls: toGrpcTls(tls) }, debug };
}

export type GrpcServerSettings = ReturnType<typeof readServers>['grpc'];
export type GrpcTlsSettings = NonNullable<GrpcServerSettings['tls']>;

/** Bounds on the cost of one request, one client and all clients together. */
export const boundsTable = {
  maxDescriptors: setting('MAX_DESCRIPTORS', wholeNumber(1, 100_000), '256', {
    doc: 'descriptors of a request; more are refused',
  }),
  maxEntries: setting('MAX_DESCRIPTOR_ENTRIES', wholeNumber(1, 100_000), '64', {
    doc: 'entries of a descriptor; more are refused',
  }),
  maxNameBytes: setting('MAX_NAME_BYTES', wholeNumber(1, 1_048_576), '1024', {
    doc: 'bytes of a domain and of a key; longer ones are refused',
  }),
  maxValueBytes: setting('MAX_VALUE_BYTES', wholeNumber(1, 4_194_304), '65536', {
    doc: 'bytes of a value; keep it above what the proxy allows for headers: a refused request passes a proxy that fails open',
  }),
  maxJsonBytes: setting('MAX_JSON_BYTES', wholeNumber(1_024, 16_777_216), '1048576', {
    doc: 'bytes of a /json body, as it arrives and unpacked',
  }),
  maxGrpcMessageBytes: setting(
    'MAX_GRPC_MESSAGE_BYTES',
    wholeNumber(1_024, 16_777_216),
    '4194304',
    { doc: 'bytes of a gRPC message, as it arrives and unpacked' },
  ),
  maxUnpackRatio: setting('MAX_UNPACK_RATIO', wholeNumber(1, 100_000), '100', {
    doc: 'times its packed size that a body above 256 KiB may unpack to',
  }),
  maxHeldBytes: setting('MAX_HELD_BYTES', wholeNumber(1_048_576), '134217728', {
    doc: 'bytes that all connections may hold (unread answers, unfinished messages); beyond, new work is refused and the connection that holds most is closed',
  }),
  maxConnections: setting('MAX_CONNECTIONS', wholeNumber(1, 1_000_000), '10000', {
    doc: 'connections of each port; more are closed as soon as they are accepted',
  }),
  debugAllowedHosts: optional('DEBUG_ALLOWED_HOSTS', listOf(word, '<host>'), 'unset', {
    doc: 'further Host names that the debug port serves, with commas; addresses, localhost and names of one label always are',
  }),
};

export type BoundSettings = Values<typeof boundsTable>;

export const healthTable = {
  needsConfiguration: setting('HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED', boolean, 'false', {
    doc: 'true makes the service unhealthy while no domain is loaded',
  }),
  needsStoreConnection: setting('KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION', boolean, 'false', {
    doc: 'true makes the service unhealthy while no connection to the store is active',
  }),
  needsEqualKeys: setting('HEALTHY_WITH_EQUAL_KEYS', boolean, 'true', {
    doc: 'false keeps the service healthy though its SECRET_KEYS_FILE differs from that of other instances',
  }),
  drainDelayMs: setting('DRAIN_DELAY', timerFromZero, '0', {
    doc: 'time after a signal to stop in which health is down and calls are still served',
  }),
};

export type HealthSettings = Values<typeof healthTable>;

export const checkTable = {
  config: optional('CHECK_CONFIG', path, 'these are not served', {
    doc: 'file of /check and /quota, or directory of files for /check/<name>; watched and reloaded',
  }),
};

/** The operator API on the debug port, and its callers. */
export const adminTable = {
  api: setting('ADMIN_API', oneOf('off', 'read', 'write'), 'read', {
    doc: 'what /api/v1/ on the debug port does: nothing, explain and show, or also change counters',
  }),
  tokenFile: optional('ADMIN_TOKEN_FILE', path, 'no token is required', {
    doc: 'file with the token that /api/v1/ requires; read again when it changes',
  }),
  protectAll: setting('ADMIN_PROTECT_ALL', boolean, 'false', {
    doc: 'true requires the token on every page of the debug port',
  }),
  hosts: optional('ADMIN_HOSTS', listOf(word, '<host>'), 'unset', {
    doc: 'further names under which browsers may use the debug port and /api/v1/, with commas',
  }),
};

/** Without a token, counters may be changed only from this machine. */
export function toAdmin(reading: TableReading<typeof adminTable>, debugHost: string) {
  const { api, tokenFile, protectAll, hosts = [] } = reading.values;
  if (api === 'write' && tokenFile === undefined && !isLoopback(debugHost)) {
    reading.problem(
      `${reading.describe('api')} lets everybody who reaches DEBUG_HOST=${JSON.stringify(debugHost)} change counters: ` +
        'expected ADMIN_TOKEN_FILE to be set, or DEBUG_HOST=127.0.0.1',
    );
  }
  if (protectAll && tokenFile === undefined) {
    reading.refuse('protectAll', 'ADMIN_TOKEN_FILE to be set');
  }
  return { ...reading.values, hosts };
}

export type AdminSettings = ReturnType<typeof toAdmin>;

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
