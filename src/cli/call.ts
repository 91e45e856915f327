import {
  Client,
  credentials,
  status,
  type ChannelCredentials,
  type ClientOptions as ChannelOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadShouldRateLimit } from '../platform/proto-files';
import { toReason } from '../platform/errors';
import { readPemNow } from '../platform/tls-files';
import type { ClientOptions, Descriptor, TlsOptions } from './options';
import type { RawResponse } from './response';

/** Sends one request. Rejects with an error whose message says what happened and what to do next. */
export function shouldRateLimit(options: ClientOptions): Promise<RawResponse> {
  const { dialString, domain, descriptors, hitsAddend, timeoutMs, tls } = options;
  const method = loadShouldRateLimit();
  const client = new Client(dialString, toCredentials(tls), toChannelOptions(tls));
  return new Promise((resolve, reject) => {
    let contentType: string | undefined;
    const call = client.makeUnaryRequest<object, RawResponse>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      { domain, descriptors: descriptors.map(toRequested), hitsAddend },
      { deadline: new Date(Date.now() + timeoutMs) },
      (error, response) => {
        client.close();
        if (error !== null) reject(explain(error, options, contentType));
        else resolve(response ?? {});
      },
    );
    call.on('metadata', (metadata) => {
      contentType = metadata.get('content-type')[0]?.toString();
    });
  });
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

function toChannelOptions(tls: TlsOptions | undefined): ChannelOptions {
  if (tls?.serverName === undefined) return {};
  return {
    'grpc.ssl_target_name_override': tls.serverName,
    'grpc.default_authority': tls.serverName,
  };
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
