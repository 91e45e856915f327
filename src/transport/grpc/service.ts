import type { HealthStatus, Snapshot } from '../../../streams';
import { failure, type Failure, type FailureCode } from '../../core/errors';
import type { CallKind, Statistics } from '../../core/ports';
import type { ServingStatus } from '../../wire/grpc/health';
import type { Malformed } from '../../wire/protobuf/read';
import { grpcStatus, StatusCode, type GrpcStatus } from '../../wire/grpc/status';

/** Full paths of the methods that the service answers over gRPC. */
export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
export const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
export const HEALTH_WATCH = '/grpc.health.v1.Health/Watch';
export const REFLECTION_PATHS = ['v1', 'v1alpha'].map(
  (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
);

const [, service = '', method = ''] = SHOULD_RATE_LIMIT.split('/');

/** ShouldRateLimit in the terms of OpenTelemetry's conventions for RPC. */
export const GRPC_CALL: CallKind = {
  name: `${service}/${method}`,
  attributes: { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method },
  statusAttribute: 'rpc.grpc.status_code',
  statusOf: (answer) => (answer.kind === 'decision' ? 0 : toGrpcStatus(answer).code),
};

/** The one place where failures become gRPC status codes. */
const STATUS_OF_FAILURE: Readonly<Record<FailureCode, number>> = {
  invalid_request: StatusCode.invalidArgument,
  no_rules: StatusCode.unavailable,
  store_unavailable: StatusCode.unavailable,
  store_timeout: StatusCode.deadlineExceeded,
  draining: StatusCode.unavailable,
  internal: StatusCode.internal,
};

/** The status of a call that ends in a failure. */
export function toGrpcStatus({
  code,
  message,
}: {
  code: FailureCode;
  message: string;
}): GrpcStatus {
  return grpcStatus(STATUS_OF_FAILURE[code], message);
}

/** Counts invalid requests; those beyond the bounds are counted here before they reach the decisions. */
const SERVICE_ERROR = 'ratelimit.service.call.should_rate_limit.service_error';

/** The answer to a message that the decoder refused. */
export function refuseMessage({ kind, reason }: Malformed, statistics: Statistics): Failure {
  if (kind === 'malformed') {
    return failure('invalid_request', `not a valid RateLimitRequest: ${reason}`);
  }
  statistics.count(SERVICE_ERROR, 1);
  return failure('invalid_request', reason);
}

export type Health = Snapshot<HealthStatus<string>>;

/** Names under which the whole service answers health checks (behaviour.md §4.6). */
const SERVICE_NAMES: ReadonlySet<string> = new Set(['', 'ratelimit']);

/** Whether the name is ours: a watch keeps nothing else of it. */
export function isServed(service: string): boolean {
  return SERVICE_NAMES.has(service);
}

/** SERVICE_UNKNOWN for a name that is not ours: NOT_FOUND on Check, a message of its own on Watch. */
export function servingStatus(
  isKnown: boolean,
  { serving }: HealthStatus<string>,
): Extract<ServingStatus, 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'> {
  if (!isKnown) return 'SERVICE_UNKNOWN';
  return serving ? 'SERVING' : 'NOT_SERVING';
}

export function malformedRequest({ reason }: Malformed): string {
  return `not a valid HealthCheckRequest: ${reason}`;
}

export function unknownService(service: string): string {
  return `health of service ${JSON.stringify(service)} is not known, ask for "ratelimit" or ""`;
}

/** A reset within this last share of its time, or these last milliseconds, counts as the proxy's own time-out. */
const TIMER_SHARE = 0.1;
const TIMER_MS = 5;

/**
 * Whether a call that was reset after this time was cancelled by the origin of the request: a proxy whose own time is over resets
 * at its `grpc-timeout`, and lets the request proceed (budgets.md section 2).
 */
export function isEarly(waitedMs: number, timeoutMs: number): boolean {
  return waitedMs < Math.min(timeoutMs * (1 - TIMER_SHARE), timeoutMs - TIMER_MS);
}
