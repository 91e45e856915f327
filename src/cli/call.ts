import { credentials, status, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import { toReason } from '../platform/errors';
import { openRateLimitChannel } from '../platform/rate-limit-channel';
import type { RawRateLimitResponse } from '../platform/rate-limit-response';
import { readPemNow } from '../platform/tls-files';
import type { ClientOptions, Descriptor, TlsOptions } from './options';

/** Sends one request. Rejects with an error whose message says what happened and what to do next. */
export async function shouldRateLimit(options: ClientOptions): Promise<RawRateLimitResponse> {
  const { dialString, domain, descriptors, hitsAddend, timeoutMs, tls } = options;
  const channel = openRateLimitChannel(dialString, toCredentials(tls), {}, tls?.serverName);
  const request = { domain, descriptors: descriptors.map(toRequested), hitsAddend };
  let contentType: string | undefined;
  const onContentType = (found: string | undefined): void => {
    contentType = found;
  };
  try {
    return await channel.call(request, { timeoutMs, onContentType });
  } catch (error) {
    throw explain(error as ServiceError, options, contentType);
  } finally {
    channel.close();
  }
}

/** In the form of the protocol: own hits are a google.protobuf.UInt64Value. */
function toRequested({ entries, hits }: Descriptor): object {
  if (hits === undefined) return { entries };
  return { entries, hitsAddend: { value: Math.abs(hits) }, isNegativeHits: hits < 0 };
}

function toCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  return credentials.createSsl(
    readPemNow(tls.caCert, '-tls_ca_cert') ?? null,
    readPemNow(tls.key, '-tls_key') ?? null,
    readPemNow(tls.cert, '-tls_cert') ?? null,
  );
}

function explain(
  error: ServiceError,
  { dialString, timeoutMs }: ClientOptions,
  contentType: string | undefined,
): Error {
  const { code, details } = error;
  const options = { cause: error };
  const unreachable = unreachableReason(details);
  const foreign =
    unreachable?.startsWith(NOT_HTTP2) === true ? '' : foreignAnswer(details, contentType);
  if (foreign !== undefined) {
    const next = 'is it an HTTP port? Give the address of the gRPC port with -dial_string';
    return new Error(`${dialString} does not speak gRPC${foreign}; ${next}`, options);
  }
  if (code === status.UNAVAILABLE && unreachable !== undefined) {
    const next = 'is it running there? Give another address with -dial_string';
    return new Error(`cannot reach the service at ${dialString}: ${unreachable}; ${next}`, options);
  }
  if (code === status.DEADLINE_EXCEEDED) {
    const next = 'allow more time with -timeout';
    const waited = `no answer from ${dialString} within ${String(timeoutMs)} ms`;
    return new Error(`${waited} (${details}); ${next}`, options);
  }
  return new Error(`the service at ${dialString} answered ${status[code]}: ${details}`, options);
}

/** Node's error for an answer that is not HTTP/2, such as that of an HTTP/1.1 port. */
const NOT_HTTP2 = 'Protocol error';

/** The status of an HTTP/2 answer that is not gRPC, where the library reports it; undefined for an answer of gRPC. */
function foreignAnswer(details: string, contentType: string | undefined): string | undefined {
  const [, httpStatus] = /^Received HTTP status code (\d+)$/.exec(details) ?? [];
  if (httpStatus !== undefined) return ` (HTTP status ${httpStatus})`;
  return contentType?.startsWith('application/grpc') === false ? '' : undefined;
}

/** The library's reason for a failed connection; an answer has other words. */
function unreachableReason(details: string): string | undefined {
  if (details.startsWith('Name resolution failed')) return toReason({ message: details });
  const [, reason] =
    /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note/s.exec(
      details,
    ) ?? [];
  if (reason !== undefined) return toReason({ message: reason });
  return details.startsWith('No connection established') ? details : undefined;
}
