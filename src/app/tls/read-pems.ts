import { readPem, readPemNow } from '../../platform/tls-files';
import type { GrpcTlsSettings } from '../../settings/servers';
import type { TlsPems } from '../../transport/grpc/options';

/** The files of GRPC_SERVER_TLS_CERT, GRPC_SERVER_TLS_KEY and GRPC_CLIENT_TLS_CACERT. Rejects naming the setting. */
export async function readPems(files: GrpcTlsSettings): Promise<TlsPems> {
  const { certFile, keyFile, clientCaFile } = files;
  const [certificate, key, clientCa] = await Promise.all([
    readPem(certFile, 'GRPC_SERVER_TLS_CERT'),
    readPem(keyFile, 'GRPC_SERVER_TLS_KEY'),
    readPem(clientCaFile, 'GRPC_CLIENT_TLS_CACERT'),
  ]);
  return { certificate, key, clientCa };
}

/** Reads them synchronously, for the start. Throws. */
export function readPemsNow({ certFile, keyFile, clientCaFile }: GrpcTlsSettings): TlsPems {
  return {
    certificate: readPemNow(certFile, 'GRPC_SERVER_TLS_CERT'),
    key: readPemNow(keyFile, 'GRPC_SERVER_TLS_KEY'),
    clientCa: readPemNow(clientCaFile, 'GRPC_CLIENT_TLS_CACERT'),
  };
}

export function isSamePems(a: TlsPems, b: TlsPems): boolean {
  const isSameCa =
    a.clientCa === undefined || b.clientCa === undefined
      ? a.clientCa === b.clientCa
      : a.clientCa.equals(b.clientCa);
  return isSameCa && a.certificate.equals(b.certificate) && a.key.equals(b.key);
}
