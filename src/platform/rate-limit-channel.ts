import {
  Client,
  Metadata,
  type ChannelCredentials,
  type ClientOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { loadProtos, RATE_LIMIT_PROTO } from './proto-files';
import type { RawRateLimitResponse } from './rate-limit-response';

/** For connections that last: the library would wait from a second to two minutes for a service that was unreachable. */
export const RECONNECT_OPTIONS: ClientOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
};

export interface CallTerms {
  readonly timeoutMs: number;
  /** Its abort cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Waits for a connection until the deadline; otherwise a call fails at once while there is none. */
  readonly waitForReady?: boolean;
  /** Receives the content type of the answer before the call ends. */
  readonly onContentType?: (contentType: string | undefined) => void;
}

/** A gRPC connection to a decision service, opened by the first call. It keeps no process alive. */
export interface RateLimitChannel {
  /** Opens the connection now. */
  connect(): void;
  /** One `ShouldRateLimit`; the request is a RateLimitRequest for proto-loader. Rejects with the library's ServiceError. */
  call(request: object, terms: CallTerms): Promise<RawRateLimitResponse>;
  close(): void;
}

/** `serverName`: the name that the service's certificate must have, where it is not that of the target. */
export function openRateLimitChannel(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  serverName?: string,
): RateLimitChannel {
  const { path, requestSerialize, responseDeserialize } = loadShouldRateLimit();
  const client = new Client(target, credentials, { ...options, ...toNameOptions(serverName) });
  return {
    connect() {
      client.getChannel().getConnectivityState(true);
    },
    call: (request, { timeoutMs, signal, waitForReady = false, onContentType }) =>
      new Promise((resolve, reject) => {
        const call = client.makeUnaryRequest<object, RawRateLimitResponse>(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          new Metadata({ waitForReady }),
          { deadline: Date.now() + timeoutMs },
          (error: ServiceError | null, response = {}) => {
            signal?.removeEventListener('abort', cancel);
            if (error === null) resolve(response);
            else reject(error);
          },
        );
        const cancel = (): void => {
          call.cancel();
        };
        signal?.addEventListener('abort', cancel, { once: true });
        if (onContentType !== undefined)
          call.on('metadata', (metadata) => {
            onContentType(metadata.get('content-type')[0]?.toString());
          });
      }),
    close() {
      client.close();
    },
  };
}

function loadShouldRateLimit() {
  const service = loadProtos([RATE_LIMIT_PROTO])['envoy.service.ratelimit.v3.RateLimitService'];
  const method = (service as ServiceDefinition)['ShouldRateLimit'];
  if (method === undefined) throw new Error(`${RATE_LIMIT_PROTO} has no method ShouldRateLimit`);
  return method;
}

function toNameOptions(serverName: string | undefined): ClientOptions {
  if (serverName === undefined) return {};
  return { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName };
}
