import {
  Client,
  credentials,
  Metadata,
  status,
  type ChannelCredentials,
  type ClientOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import { toReason } from '../platform/errors';
import { loadShouldRateLimit } from '../platform/proto-files';
import type { RawRateLimitResponse } from './decision';
import type { DescriptorMessage } from './descriptors';
import { RateLimiterError, type RateLimiterErrorCode } from './errors';
import type { RateLimiterTls } from './options';

/** envoy.service.ratelimit.v3.RateLimitRequest for proto-loader. */
export interface Question {
  readonly domain: string;
  readonly descriptors: readonly DescriptorMessage[];
  readonly hitsAddend?: number;
}

export interface CallTerms {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Waits for a connection until the deadline; otherwise a call fails at once while there is none. */
  readonly waitForReady?: boolean;
}

export interface Connection {
  /** One call. Rejects only with the signal's reason. */
  ask(question: Question, terms: CallTerms): Promise<RawRateLimitResponse | RateLimiterError>;
  close(): void;
}

/** Silence after which a call in flight triggers a PING, and the time-out of its answer. */
const KEEPALIVE_MS = 5_000;
const KEEPALIVE_TIMEOUT_MS = 2_000;
/** The library would wait from a second to two minutes for a service that was unreachable. */
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 1_000;
/** The library would use an outdated address of the name for half a minute. */
const RESOLVE_AGAIN_MS = 1_000;

const CHANNEL_OPTIONS: ClientOptions = {
  'grpc.initial_reconnect_backoff_ms': FIRST_RETRY_MS,
  'grpc.max_reconnect_backoff_ms': MAX_RETRY_MS,
  'grpc.dns_min_time_between_resolutions_ms': RESOLVE_AGAIN_MS,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  // Its own connection, which ends with it.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
};

/** A gRPC connection, opened at once and again when it breaks. It keeps no process alive. Throws when `tls` cannot be used. */
export function createConnection(target: string, tls: RateLimiterTls | undefined): Connection {
  const { path, requestSerialize, responseDeserialize } = loadShouldRateLimit();
  const client = new Client(target, toCredentials(tls), toChannelOptions(tls));
  client.getChannel().getConnectivityState(true);
  return {
    ask: (question, { timeoutMs, signal, waitForReady = false }) =>
      new Promise((resolve, reject) => {
        const rejectAborted = (): void => {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller chose it
          reject(signal?.reason);
        };
        if (signal?.aborted === true) {
          rejectAborted();
          return;
        }
        const call = client.makeUnaryRequest<object, RawRateLimitResponse>(
          path,
          requestSerialize,
          responseDeserialize,
          question,
          new Metadata({ waitForReady }),
          { deadline: Date.now() + timeoutMs },
          (error, response = {}) => {
            signal?.removeEventListener('abort', abort);
            if (error === null) resolve(response);
            else if (signal?.aborted === true) rejectAborted();
            else resolve(toRateLimiterError(error, target));
          },
        );
        const abort = (): void => {
          call.cancel();
        };
        signal?.addEventListener('abort', abort, { once: true });
      }),
    close: () => {
      client.close();
    },
  };
}

function toCredentials(tls: RateLimiterTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  try {
    const [ca, key, cert] = [tls.ca, tls.key, tls.cert].map((pem) =>
      pem === undefined ? null : Buffer.from(pem as Uint8Array),
    );
    return credentials.createSsl(ca, key, cert);
  } catch (error) {
    throw new TypeError(`tls: ${toReason(error)}`, { cause: error });
  }
}

function toChannelOptions(tls: RateLimiterTls | undefined): ClientOptions {
  if (tls?.serverName === undefined) return CHANNEL_OPTIONS;
  return {
    ...CHANNEL_OPTIONS,
    'grpc.ssl_target_name_override': tls.serverName,
    'grpc.default_authority': tls.serverName,
  };
}

const CODES: Readonly<Partial<Record<status, RateLimiterErrorCode>>> = {
  [status.DEADLINE_EXCEEDED]: 'timeout',
  [status.UNAVAILABLE]: 'unavailable',
  [status.INVALID_ARGUMENT]: 'invalid_request',
};

function toRateLimiterError(error: ServiceError, target: string): RateLimiterError {
  const { code, details } = error;
  const message = `no decision from ${target}: ${toReason({ message: details })} (${status[code]})`;
  return new RateLimiterError(CODES[code] ?? 'failed', message, { cause: error });
}
