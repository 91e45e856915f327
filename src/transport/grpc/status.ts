import type { FailureCode } from '../../core/errors';
import { grpcStatus, StatusCode, type GrpcStatus } from '../../wire/grpc/status';

/** The one place where failures become gRPC status codes. */
const STATUS_OF_FAILURE: Readonly<Record<FailureCode, number>> = {
  invalid_request: StatusCode.invalidArgument,
  no_rules: StatusCode.unavailable,
  store_unavailable: StatusCode.unavailable,
  store_timeout: StatusCode.deadlineExceeded,
  draining: StatusCode.unavailable,
  internal: StatusCode.internal,
};

/** Code and message of a call that ends in a failure. */
export function toGrpcStatus({
  code,
  message,
}: {
  code: FailureCode;
  message: string;
}): GrpcStatus {
  return grpcStatus(STATUS_OF_FAILURE[code], message);
}
