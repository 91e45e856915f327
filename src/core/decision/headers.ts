import type { Header } from '../model';
import type { Verdict } from './verdict';

/** Names of the response headers (LIMIT_LIMIT_HEADER and its siblings). */
export interface HeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/**
 * The limit headers of one request (behaviour.md §4.4): they describe the descriptor with the least
 * remaining, the first of equals; the last hard limit that is over when one is.
 */
export function limitHeaders(
  verdicts: readonly (Verdict | undefined)[],
  names: HeaderNames,
): readonly Header[] {
  const status = nearestStatus(verdicts);
  if (status?.currentLimit === undefined) return [];
  return [
    { key: names.limit, value: String(status.currentLimit.requestsPerUnit) },
    { key: names.remaining, value: String(status.limitRemaining) },
    { key: names.reset, value: String(status.secondsUntilReset) },
  ];
}

function nearestStatus(verdicts: readonly (Verdict | undefined)[]) {
  let nearest: Verdict['status'] | undefined;
  for (const verdict of verdicts) {
    if (verdict?.status.currentLimit === undefined) continue;
    const { status, bearing } = verdict;
    const overHard = status.code === 'OVER_LIMIT' && bearing === 'hard';
    if (overHard || nearest === undefined || status.limitRemaining < nearest.limitRemaining)
      nearest = status;
  }
  return nearest;
}
