import type { ErrorCode } from '../contract/errors';
import type { OverLimit } from '../limits/limits';
import type { UserRecord } from '../store/records';

/** The reason, for the operator's metrics and log; callers never see it. */
export type Reason =
  | 'ok'
  | 'over_limit'
  | 'no_credentials'
  | 'ambiguous_credentials'
  | 'api_key'
  | 'malformed_token'
  | 'unknown_token'
  | 'wrong_secret'
  | 'invalid_jwt'
  | 'session_over'
  | 'user_gone'
  | 'user_disabled'
  | 'store_unavailable'
  | 'keys_unavailable'
  | 'no_decision'
  | 'method'
  | 'path'
  | 'preflight'
  | 'fault';

/** The outcome of a request. */
export type UserinfoOutcome =
  | { readonly kind: 'found'; readonly user: UserRecord; readonly remainingMs: number }
  | { readonly kind: 'over-limit'; readonly rejection: OverLimit }
  | { readonly kind: 'refused'; readonly error: ErrorCode; readonly reason: Reason };

export function refused(error: ErrorCode, reason: Reason): UserinfoOutcome {
  return { kind: 'refused', error, reason };
}

export function reasonOf(outcome: UserinfoOutcome): Reason {
  if (outcome.kind === 'found') return 'ok';
  return outcome.kind === 'over-limit' ? 'over_limit' : outcome.reason;
}
