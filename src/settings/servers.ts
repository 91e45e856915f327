import { host, listenPort } from '../platform/env-table/addresses';
import { duration } from '../platform/env-table/durations';
import type { TableReading } from '../platform/env-table/read-table';
import { boolean, fileMode, oneOf, path, word } from '../platform/env-table/scalars';
import { type Read, setting } from './setting';

export const httpTable = {
  host: setting('HOST', host, { default: '0.0.0.0', doc: 'address of the HTTP server' }),
  port: setting('PORT', listenPort, { default: '8080', doc: 'port of the HTTP server' }),
};

export const grpcTable = {
  host: setting('GRPC_HOST', host, { default: '0.0.0.0', doc: 'address of the gRPC server' }),
  port: setting('GRPC_PORT', listenPort, { default: '8081', doc: 'port of the gRPC server' }),
  unixSocket: setting('GRPC_UDS', path, {
    doc: 'path of a unix socket for the gRPC server, in place of GRPC_HOST and GRPC_PORT',
  }),
  unixSocketMode: setting('GRPC_UDS_MODE', fileMode, {
    default: '0666',
    doc: 'file mode of that socket, in octal',
  }),
  transport: setting('GRPC_TRANSPORT', oneOf('wire', 'grpc-js'), {
    default: 'wire',
    doc: 'engine of the gRPC server: the built-in one, or the library @grpc/grpc-js',
  }),
  reflection: setting('GRPC_REFLECTION', boolean, {
    default: 'true',
    doc: 'false removes the reflection services, which grpcurl asks for descriptors',
  }),
  // These two may exceed the maximum of a timer of Node (2^31 - 1 ms).
  maxConnectionAgeMs: setting('GRPC_MAX_CONNECTION_AGE', duration(), {
    default: '24h',
    doc: 'age (± 10 %) at which a gRPC connection is sent GOAWAY; 0 means never',
  }),
  maxConnectionAgeGraceMs: setting('GRPC_MAX_CONNECTION_AGE_GRACE', duration(), {
    default: '1h',
    doc: 'time after which such a connection is closed; 0 means never',
  }),
};

export const grpcTlsTable = {
  useTls: setting('GRPC_SERVER_USE_TLS', boolean, {
    default: 'false',
    doc: 'true serves gRPC over TLS',
  }),
  certFile: setting('GRPC_SERVER_TLS_CERT', path, {
    doc: "file with the server's certificate chain",
  }),
  keyFile: setting('GRPC_SERVER_TLS_KEY', path, {
    doc: "file with the server's private key",
  }),
  clientCaFile: setting('GRPC_CLIENT_TLS_CACERT', path, {
    doc: 'file with the CA certificate that signs client certificates; when set, clients must present one',
  }),
  clientName: setting('GRPC_CLIENT_TLS_SAN', word, {
    doc: 'DNS name that a client certificate must have',
    whenUnset: 'any',
  }),
};

export const debugTable = {
  host: setting('DEBUG_HOST', host, {
    default: '0.0.0.0',
    doc: 'address of the debug server',
  }),
  port: setting('DEBUG_PORT', listenPort, {
    default: '6070',
    doc: 'port of the debug server',
  }),
};

type GrpcTlsReading = TableReading<typeof grpcTlsTable>;

/** Each of these concerns TLS, which is off without GRPC_SERVER_USE_TLS. */
function warnOfUnusedTls(reading: GrpcTlsReading): void {
  const effects = {
    certFile: 'the port serves plain text',
    keyFile: 'the port serves plain text',
    clientCaFile: 'no client is checked',
    clientName: 'no client is checked',
  } as const;
  for (const [key, effect] of Object.entries(effects)) {
    const name = key as keyof typeof effects;
    if (!reading.isSet(name)) continue;
    const shown = reading.describe(name);
    reading.diagnostics.warnings.push(
      `${shown} has no effect without GRPC_SERVER_USE_TLS=true, so ${effect}`,
    );
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
