import type {
  Code,
  DecisionRequest,
  DescriptorStatus,
  Header,
  Json,
  JsonObject,
  RequestDescriptor,
} from '../model';
import { hasSeveral } from '../rules/rules';
import { NO_LIMIT, type Verdict } from './verdict';

/**
 * The overall code of one request (behaviour.md §4.3, §2.6): over when a hard limit is over,
 * or when there are quotas and all of them are over. Under QUOTA_MODE a descriptor without a rule
 * is a quota that is not over.
 */
export function overallCode(verdicts: readonly (Verdict | undefined)[], quotaMode: boolean): Code {
  let quotas = 0;
  let quotasOver = 0;
  for (const verdict of verdicts) {
    if (verdict === undefined) {
      if (quotaMode) quotas += 1;
      continue;
    }
    const over = verdict.status.code === 'OVER_LIMIT';
    if (verdict.enforcement === 'quota') {
      quotas += 1;
      if (over) quotasOver += 1;
    } else if (over) return 'OVER_LIMIT';
  }
  return quotasOver > 0 && quotasOver === quotas ? 'OVER_LIMIT' : 'OK';
}

/**
 * The verdict that made a request's overall code OVER_LIMIT: the first hard limit that is over, else the first quota; undefined
 * where nothing is over.
 */
export function decidingVerdict(verdicts: readonly (Verdict | undefined)[]): Verdict | undefined {
  let quota: Verdict | undefined;
  for (const verdict of verdicts) {
    if (verdict?.status.code !== 'OVER_LIMIT') continue;
    if (verdict.enforcement === 'hard') return verdict;
    quota ??= verdict;
  }
  return quota;
}

/** Names of the response headers (LIMIT_LIMIT_HEADER and its siblings). */
export interface HeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/**
 * The limit headers of one request (behaviour.md §4.4): they describe the descriptor with the least remaining, on a tie the first;
 * if a hard limit is over, the last such one. `lengthen` takes the seconds until the reset of the descriptor with this index
 * (LIMIT_RESET_JITTER).
 */
export function limitHeaders(
  verdicts: readonly (Verdict | undefined)[],
  names: HeaderNames,
  lengthen: (seconds: number, index: number) => number = asItIs,
): readonly Header[] {
  const index = nearestIndex(verdicts);
  const status = verdicts[index]?.status;
  if (status?.currentLimit === undefined) return [];
  const { currentLimit, limitRemaining, secondsUntilReset = 0 } = status;
  return [
    { key: names.limit, value: String(currentLimit.requestsPerUnit) },
    { key: names.remaining, value: String(limitRemaining) },
    { key: names.reset, value: String(lengthen(secondsUntilReset, index)) },
  ];
}

function asItIs(seconds: number): number {
  return seconds;
}

/** -1 when no limit applies. */
function nearestIndex(verdicts: readonly (Verdict | undefined)[]): number {
  let nearest = -1;
  let least = Infinity;
  for (let i = 0; i < verdicts.length; i++) {
    const verdict = verdicts[i];
    if (verdict?.status.currentLimit === undefined) continue;
    const { status, enforcement } = verdict;
    const overHard = status.code === 'OVER_LIMIT' && enforcement === 'hard';
    if (!overHard && status.limitRemaining >= least) continue;
    nearest = i;
    least = status.limitRemaining;
  }
  return nearest;
}

/**
 * The `dynamic_metadata` of one request (behaviour.md §2.10): the request, and the metadata of the rules that passed, merged in the
 * order of the descriptors; on a conflict the first value stays. If the overall code is OVER_LIMIT, also the rule that decided it,
 * for a proxy's access log.
 */
export function dynamicMetadata(
  request: DecisionRequest,
  verdicts: readonly (Verdict | undefined)[],
  code: Code,
): JsonObject {
  const merged: Record<string, Json> = {};
  for (const verdict of verdicts) {
    const metadata = verdict?.limit.metadata;
    if (metadata === undefined || !isPassed(verdict?.status)) continue;
    for (const [name, value] of Object.entries(metadata)) {
      if (!Object.hasOwn(merged, name)) merged[name] = value;
    }
  }
  return {
    domain: request.domain,
    descriptors: request.descriptors.map(describe),
    ...(request.hitsAddend === 0 ? {} : { hitsAddend: request.hitsAddend }),
    ...(Object.keys(merged).length === 0 ? {} : { metadata: merged }),
    ...limitedBy(verdicts, code),
  };
}

function limitedBy(verdicts: readonly (Verdict | undefined)[], code: Code): JsonObject {
  const deciding = code === 'OK' ? undefined : decidingVerdict(verdicts);
  if (deciding === undefined) return {};
  const { metric, limit, budget } = deciding;
  const { name } = (budget && limit.budget?.entries[budget.entry]) ?? limit;
  const limitedByLimit = limitOfList(deciding);
  return {
    limitedBy: metric,
    ...(name === '' ? {} : { limitedByName: name }),
    ...(limitedByLimit !== undefined && { limitedByLimit }),
  };
}

/** The limit of a rule's list that a descriptor's status reports; undefined: its rule has no list of limits. */
export function limitOfList({ limit, budget }: Verdict): string | undefined {
  if (budget === undefined || limit.budget === undefined) return undefined;
  return hasSeveral(limit.budget) ? limit.budget.names[budget.entry] : undefined;
}

/** A descriptor without a count has the status of one without a rule. */
function isPassed(status: DescriptorStatus | undefined): boolean {
  return status?.code === 'OK' && status !== NO_LIMIT;
}

function describe({ entries, hits }: RequestDescriptor): JsonObject {
  return {
    entries: entries.map(({ key, value }) => `${key}=${value}`),
    ...(hits === undefined ? {} : { hitsAddend: Number(hits) }),
  };
}
