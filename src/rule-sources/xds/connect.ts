import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  status,
  type ChannelCredentials,
  type ClientDuplexStream,
  type ClientOptions,
} from '@grpc/grpc-js';
import type { OpenDuplex } from '../../../streams';
import { toReason } from '../../platform/errors';
import { readPemNow, type TlsFiles } from '../../platform/tls-files';
import type { MethodCodec } from './messages';
import type { Readable } from 'node:stream';

export interface ClientTls extends TlsFiles {
  /** The name expected in the server's certificate; undefined: the host of the target. */
  readonly serverName: string | undefined;
}

export interface XdsServerOptions {
  /** Anything that gRPC can dial. */
  readonly target: string;
  readonly tls: ClientTls | undefined;
  /** Undefined: gRPC's own, 4 MiB. */
  readonly maxMessageBytes: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Time limit of connecting. */
const CONNECT_WITHIN_MS = 20_000;

/** Servers of grpc-go refuse pings that come more often than every five minutes. */
const KEEPALIVE_MS = 330_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/**
 * Opens streams of one method, each on a connection of its own: certificates and addresses are read anew. A message for which
 * `read` throws ends the stream.
 */
export function createOpenStream<In>(
  { path, serialize }: MethodCodec,
  options: XdsServerOptions,
  read: (bytes: Uint8Array) => In,
  onConnected: () => void,
): OpenDuplex<In, object> {
  return ({ message, lost }) => {
    const client = new Client(options.target, readCredentials(options.tls), toOptions(options));
    const call: ClientDuplexStream<object, Buffer> = client.makeBidiStreamRequest(
      path,
      serialize,
      (bytes) => bytes,
      toMetadata(options.headers),
    );
    readByTurns(call, (bytes) => {
      try {
        message(read(bytes));
      } catch (error) {
        lost(new Error(`a response cannot be read: ${toReason(error)}`, { cause: error }));
      }
    });
    call.on('error', lost);
    call.on('status', ({ code }) => {
      if (code === status.OK) lost(new Error('the server ended the stream'));
    });
    client.waitForReady(Infinity, (error) => {
      if (error === undefined) onConnected();
    });
    const connecting = setTimeout(() => {
      if (client.getChannel().getConnectivityState(false) === connectivityState.READY) return;
      lost(new Error(`not connected within ${String(CONNECT_WITHIN_MS / 1_000)} s`));
    }, CONNECT_WITHIN_MS);
    return {
      send: (request) => {
        call.write(request);
      },
      close: () => {
        clearTimeout(connecting);
        call.cancel();
        client.close();
      },
    };
  };
}

function toOptions({ maxMessageBytes, tls }: XdsServerOptions): ClientOptions {
  return {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.service_config_disable_resolution': 1,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    ...(maxMessageBytes === undefined
      ? {}
      : { 'grpc.max_receive_message_length': maxMessageBytes }),
    ...(tls?.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': tls.serverName }),
  };
}

function toMetadata(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.add(name, value);
  return metadata;
}

function readCredentials(tls: ClientTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const { caFile, keyFile, certFile } = tls;
  const ca = readPemNow(caFile, 'CONFIG_GRPC_XDS_SERVER_TLS_CACERT') ?? null;
  const key = readPemNow(keyFile, 'CONFIG_GRPC_XDS_CLIENT_TLS_KEY') ?? null;
  const certificate = readPemNow(certFile, 'CONFIG_GRPC_XDS_CLIENT_TLS_CERT') ?? null;
  try {
    return credentials.createSsl(ca, key, certificate);
  } catch (error) {
    const what = 'the files of CONFIG_GRPC_XDS_*_TLS_* cannot be used';
    throw new Error(`${what}: ${toReason(error)}`, { cause: error });
  }
}

/** Messages per turn of the event loop. */
const MESSAGES_OF_TURN = 32;

/**
 * Passes messages on, a bounded number per turn of the event loop. A stream delivers all that have arrived at once: thousands,
 * where they are empty.
 */
export function readByTurns(
  stream: Pick<Readable, 'on' | 'pause' | 'resume'>,
  take: (bytes: Buffer) => void,
): void {
  let taken = 0;
  stream.on('data', (bytes: Buffer) => {
    taken += 1;
    if (taken === 1)
      setImmediate(() => {
        taken = 0;
        stream.resume();
      });
    if (taken === MESSAGES_OF_TURN) stream.pause();
    take(bytes);
  });
}
