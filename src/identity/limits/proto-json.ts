import { toVerdict, type LimitStatus, type Verdict } from './decisions';

/** The fields of a RateLimitResponse that matter here, as proto3 JSON and proto-loader have them. */
export interface RawDecision {
  readonly overallCode?: string;
  readonly statuses?: readonly {
    readonly code?: string;
    readonly currentLimit?: { readonly requestsPerUnit?: number } | null;
    readonly durationUntilReset?: string | { readonly seconds?: string | number } | null;
  }[];
}

const OVER = 'OVER_LIMIT';

export function readDecision({ overallCode, statuses = [] }: RawDecision): Verdict {
  const read = statuses.map(({ code, currentLimit, durationUntilReset }): LimitStatus => {
    const seconds =
      typeof durationUntilReset === 'object'
        ? durationUntilReset?.seconds
        : durationUntilReset?.replace(/s$/, '');
    return {
      isOver: code === OVER,
      limit: currentLimit?.requestsPerUnit,
      resetSeconds: seconds === undefined ? undefined : Number(seconds),
    };
  });
  return toVerdict(overallCode === OVER, read);
}
