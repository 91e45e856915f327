import type { HealthStatus, Snapshot } from '../../../streams';
import type { ServingStatus } from '../../wire/grpc/health';
import type { Malformed } from '../../wire/protobuf/read';

export type Health = Snapshot<HealthStatus<string>>;

/** Names under which the whole service answers health checks (behaviour.md §4.6). */
const SERVICE_NAMES: ReadonlySet<string> = new Set(['', 'ratelimit']);

/** A watch keeps nothing else of its name. */
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
