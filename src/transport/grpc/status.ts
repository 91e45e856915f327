import type { FailureCode } from '../../core/errors';

/** gRPC status codes in use here (https://grpc.io/docs/guides/status-codes). */
export const GRPC_STATUS = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

/** The one place where failures become gRPC status codes. */
const STATUS_OF_FAILURE: Readonly<Record<FailureCode, number>> = {
  invalid_request: GRPC_STATUS.INVALID_ARGUMENT,
  no_rules: GRPC_STATUS.UNAVAILABLE,
  store_unavailable: GRPC_STATUS.UNAVAILABLE,
  store_timeout: GRPC_STATUS.DEADLINE_EXCEEDED,
  draining: GRPC_STATUS.UNAVAILABLE,
  internal: GRPC_STATUS.INTERNAL,
};

/** Status and message of a call that ends without an answer. */
export interface GrpcError {
  readonly code: number;
  readonly details: string;
}

/** The message travels in a header: longer ones would be refused by the caller's header limit. */
const MAX_DETAILS_LENGTH = 1024;

export function toGrpcError({ code, message }: { code: FailureCode; message: string }): GrpcError {
  return grpcError(STATUS_OF_FAILURE[code], message);
}

export function grpcError(code: number, message: string): GrpcError {
  // A cut in the middle of a surrogate pair cannot be percent-encoded.
  const details =
    message.length <= MAX_DETAILS_LENGTH
      ? message
      : `${message.slice(0, MAX_DETAILS_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;
  return { code, details };
}
