import {
  credentials,
  status,
  type ChannelCredentials,
  type ClientOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import { toReason } from '../platform/errors';
import {
  openRateLimitChannel,
  RECONNECT_OPTIONS,
  type CallTerms,
} from '../platform/rate-limit-channel';
import type { RawRateLimitResponse } from '../platform/rate-limit-response';
import type { DescriptorMessage } from './descriptors';
import { RateLimiterError, type RateLimiterErrorCode } from './errors';
import type { RateLimiterTls } from './options';

/** envoy.service.ratelimit.v3.RateLimitRequest for proto-loader. */
export interface Question {
  readonly domain: string;
  readonly descriptors: readonly DescriptorMessage[];
  readonly hitsAddend?: number;
}

export interface Connection {
  /** One call. Rejects only with the signal's reason. */
  ask(question: Question, terms: CallTerms): Promise<RawRateLimitResponse | RateLimiterError>;
  close(): void;
}

/** Silence after which a call in flight triggers a PING, and the time-out of its answer. */
const KEEPALIVE_MS = 5_000;
const KEEPALIVE_TIMEOUT_MS = 2_000;
/** The library would use an outdated address of the name for half a minute. */
const RESOLVE_AGAIN_MS = 1_000;

const CHANNEL_OPTIONS: ClientOptions = {
  ...RECONNECT_OPTIONS,
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
  const channel = openRateLimitChannel(
    target,
    toCredentials(tls),
    CHANNEL_OPTIONS,
    tls?.serverName,
  );
  channel.connect();
  return {
    async ask(question, terms) {
      const { signal } = terms;
      signal?.throwIfAborted();
      try {
        return await channel.call(question, terms);
      } catch (error) {
        signal?.throwIfAborted();
        return toRateLimiterError(error as ServiceError, target);
      }
    },
    close() {
      channel.close();
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
