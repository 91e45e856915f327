import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { GrpcTlsSettings } from '../../settings/servers';
import type { TlsPems } from '../../transport/grpc/options';
import { toReason } from '../../platform/errors';

/** The files of GRPC_SERVER_TLS_CERT, GRPC_SERVER_TLS_KEY and GRPC_CLIENT_TLS_CACERT. Rejects naming the setting. */
export async function readPems(files: GrpcTlsSettings): Promise<TlsPems> {
  const { certFile, keyFile, clientCaFile } = files;
  const read = (setting: string, file: string) =>
    readFile(file).catch((error: unknown) => {
      throw cannotRead(setting, error);
    });
  const [certificate, key, clientCa] = await Promise.all([
    read('GRPC_SERVER_TLS_CERT', certFile),
    read('GRPC_SERVER_TLS_KEY', keyFile),
    clientCaFile === undefined ? undefined : read('GRPC_CLIENT_TLS_CACERT', clientCaFile),
  ]);
  return { certificate, key, clientCa };
}

/** The same at once, for the start. Throws. */
export function readPemsNow({ certFile, keyFile, clientCaFile }: GrpcTlsSettings): TlsPems {
  const read = (setting: string, file: string) => {
    try {
      return readFileSync(file);
    } catch (error) {
      throw cannotRead(setting, error);
    }
  };
  return {
    certificate: read('GRPC_SERVER_TLS_CERT', certFile),
    key: read('GRPC_SERVER_TLS_KEY', keyFile),
    clientCa: clientCaFile === undefined ? undefined : read('GRPC_CLIENT_TLS_CACERT', clientCaFile),
  };
}

export function isSamePems(a: TlsPems, b: TlsPems): boolean {
  const isSameCa =
    a.clientCa === undefined || b.clientCa === undefined
      ? a.clientCa === b.clientCa
      : a.clientCa.equals(b.clientCa);
  return isSameCa && a.certificate.equals(b.certificate) && a.key.equals(b.key);
}

function cannotRead(setting: string, error: unknown): Error {
  const reason = toReason(error);
  return new Error(`${setting}: cannot read the file: ${reason}`, { cause: error });
}
