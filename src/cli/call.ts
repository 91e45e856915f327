import {
  Client,
  credentials,
  status,
  type ChannelCredentials,
  type ClientOptions as ChannelOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../platform/proto-files';
import { toReason } from '../platform/errors';
import { readPemNow } from '../platform/tls-files';
import type { ClientOptions, TlsOptions } from './options';
import type { RawResponse } from './response';

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';

/** Asks once. Rejects with an error whose message says what happened and what to do next. */
export function shouldRateLimit(options: ClientOptions): Promise<RawResponse> {
  const { dialString, domain, descriptors, hitsAddend, timeoutMs, tls } = options;
  const method = (loadProtos([RATE_LIMIT_PROTO])[SERVICE] as ServiceDefinition)['ShouldRateLimit'];
  if (method === undefined) throw new Error(`${RATE_LIMIT_PROTO} has no method ShouldRateLimit`);
  const client = new Client(dialString, toCredentials(tls), toChannelOptions(tls));
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest<object, RawResponse>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      { domain, descriptors, hitsAddend },
      { deadline: new Date(Date.now() + timeoutMs) },
      (error, response) => {
        client.close();
        if (error !== null) reject(explain(error, options));
        else resolve(response ?? {});
      },
    );
  });
}

function toCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  return credentials.createSsl(
    readPemNow(tls.caCert, '-tls_ca_cert') ?? null,
    readPemNow(tls.key, '-tls_key') ?? null,
    readPemNow(tls.cert, '-tls_cert') ?? null,
  );
}

function toChannelOptions(tls: TlsOptions | undefined): ChannelOptions {
  if (tls?.serverName === undefined) return {};
  return {
    'grpc.ssl_target_name_override': tls.serverName,
    'grpc.default_authority': tls.serverName,
  };
}

function explain(error: ServiceError, { dialString, timeoutMs }: ClientOptions): Error {
  const { code, details } = error;
  const options = { cause: error };
  const unreachable = unreachableReason(details);
  if (code === status.UNAVAILABLE && unreachable?.startsWith(NOT_HTTP2) === true) {
    const next = 'is it an HTTP port? Give the address of the gRPC port with -dial_string';
    return new Error(`${dialString} does not speak gRPC; ${next}`, options);
  }
  if (code === status.UNAVAILABLE && unreachable !== undefined) {
    const next = 'is it running there? Give another address with -dial_string';
    return new Error(`cannot reach the service at ${dialString}: ${unreachable}; ${next}`, options);
  }
  if (code === status.DEADLINE_EXCEEDED) {
    const next = 'give it longer with -timeout';
    const waited = `no answer from ${dialString} within ${String(timeoutMs)} ms`;
    return new Error(`${waited} (${details}); ${next}`, options);
  }
  return new Error(`the service at ${dialString} answered ${status[code]}: ${details}`, options);
}

/** What Node says of an answer that is not HTTP/2, such as that of an HTTP/1.1 port. */
const NOT_HTTP2 = 'Protocol error';

/** The library's words for a connection that did not come about; an answer has others. */
function unreachableReason(details: string): string | undefined {
  if (details.startsWith('Name resolution failed')) return toReason({ message: details });
  const [, reason] =
    /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note/s.exec(
      details,
    ) ?? [];
  if (reason !== undefined) return toReason({ message: reason });
  return details.startsWith('No connection established') ? details : undefined;
}
