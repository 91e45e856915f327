import { readFileSync } from 'node:fs';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { encodeRequest, SHOULD_RATE_LIMIT } from './grpc-client';
import type { CertificateFiles } from '../certificates';

/** The name in the certificates of the gRPC port. */
export const SERVER_NAME = 'rls.test';

export interface CallerFiles {
  readonly caFile: string;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

const REQUEST = encodeRequest({
  domain: 'edge',
  descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }],
});

/** A gRPC client with one connection over TLS; `ask` answers the status code. */
export function createTlsCaller(address: string, { caFile, certFile, keyFile }: CallerFiles) {
  const read = (file: string | undefined) => (file === undefined ? null : readFileSync(file));
  const channel = credentials.createSsl(read(caFile), read(keyFile), read(certFile));
  const client = new Client(address, channel, {
    'grpc.ssl_target_name_override': SERVER_NAME,
    'grpc.use_local_subchannel_pool': 1,
  });
  return {
    ask: () =>
      new Promise<number>((resolve) => {
        client.makeUnaryRequest<Buffer, Buffer>(
          SHOULD_RATE_LIMIT,
          (bytes) => bytes,
          (bytes) => bytes,
          REQUEST,
          (error: ServiceError | null) => {
            resolve(error?.code ?? 0);
          },
        );
      }),
    close: () => {
      client.close();
    },
  };
}

/** Asks once on a connection of its own. */
export async function askOverTls(address: string, files: CallerFiles): Promise<number> {
  const caller = createTlsCaller(address, files);
  const code = await caller.ask();
  caller.close();
  return code;
}

/** Shakes hands and hands the socket on; rejects when it comes to nothing. */
export function shakeHands(address: string, options: ConnectionOptions): Promise<TLSSocket> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connectTls(
      { host, port: Number(port), servername: SERVER_NAME, ALPNProtocols: ['h2'], ...options },
      () => {
        resolve(socket);
      },
    );
    socket.once('error', reject);
  });
}

/** Shakes hands once, with certificates that the server may not like; answers whether it closed the connection. */
export async function isRefused(
  address: string,
  { caFile, certFile, keyFile }: CertificateFiles,
): Promise<boolean> {
  const [ca, cert, key] = [caFile, certFile, keyFile].map((file) => readFileSync(file));
  try {
    const socket = await shakeHands(address, { ca, cert, key });
    // Since TLS 1.3 the client is done before its certificate has been looked at.
    const isClosed = new Promise<true>((resolve) => {
      socket.once('close', () => {
        resolve(true);
      });
    });
    socket.resume();
    return await isClosed;
  } catch {
    return true;
  }
}

/** The serial number of the certificate that a new connection is shown. */
export async function serialShown(address: string, caFile: string): Promise<string> {
  const socket = await shakeHands(address, { ca: readFileSync(caFile) });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}
