import type { HealthStatus, Snapshot } from '../../../streams';
import type { ServingStatus } from '../../wire/ratelimit/health';

export type Health = Snapshot<HealthStatus<string>>;

/** Names under which the whole service answers health checks (behaviour.md §4.6). */
const SERVICE_NAMES: ReadonlySet<string> = new Set(['', 'ratelimit']);

/** SERVICE_UNKNOWN for a name that is not ours: NOT_FOUND on Check, a message of its own on Watch. */
export function servingStatus(
  service: string,
  { serving }: HealthStatus<string>,
): Extract<ServingStatus, 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'> {
  if (!SERVICE_NAMES.has(service)) return 'SERVICE_UNKNOWN';
  return serving ? 'SERVING' : 'NOT_SERVING';
}

export function unknownService(service: string): string {
  return `health of service ${JSON.stringify(service)} is not known, ask for "ratelimit" or ""`;
}
