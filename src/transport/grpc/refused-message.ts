import { failure, type Failure } from '../../core/errors';
import type { Statistics } from '../../core/ports';
import type { Malformed } from '../../wire/protobuf/read';

/** Requests that make no sense count here; one beyond the bounds does before decisions see it. */
const SERVICE_ERROR = 'ratelimit.service.call.should_rate_limit.service_error';

/** The answer to a message that the decoder refused. */
export function refuseMessage({ kind, reason }: Malformed, statistics: Statistics): Failure {
  if (kind === 'malformed') {
    return failure('invalid_request', `not a valid RateLimitRequest: ${reason}`);
  }
  statistics.count(SERVICE_ERROR, 1);
  return failure('invalid_request', reason);
}
