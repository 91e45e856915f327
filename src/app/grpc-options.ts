import { readFileSync } from 'node:fs';
import type { GrpcServerSettings, GrpcTlsSettings } from '../settings/servers';
import type { GrpcTransportOptions, ServerTls } from '../transport/grpc/options';

/** The longest that a timer of Node can run. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The gRPC settings in the words of the transports. Throws when a certificate file cannot be read. */
export function toGrpcOptions(grpc: GrpcServerSettings): GrpcTransportOptions {
  const { host, port, unixSocket, tls } = grpc;
  return {
    address: unixSocket === undefined ? { host, port } : { path: unixSocket },
    tls: tls === undefined ? undefined : readTls(tls),
    maxConnectionAgeMs: toAge(grpc.maxConnectionAgeMs),
    maxConnectionAgeGraceMs: toAge(grpc.maxConnectionAgeGraceMs),
  };
}

function toAge(ms: number): number | undefined {
  return ms === 0 ? undefined : Math.min(ms, MAX_TIMER_MS);
}

function readTls({ certFile, keyFile, clientCaFile }: GrpcTlsSettings): ServerTls {
  return {
    certificate: readPem('GRPC_SERVER_TLS_CERT', certFile),
    key: readPem('GRPC_SERVER_TLS_KEY', keyFile),
    clientCa:
      clientCaFile === undefined ? undefined : readPem('GRPC_CLIENT_TLS_CACERT', clientCaFile),
  };
}

function readPem(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${setting}: cannot read the file: ${reason}`, { cause: error });
  }
}
