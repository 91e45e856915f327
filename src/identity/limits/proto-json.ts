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

/** Throws when the answer holds no decision. */
export function readDecision({ overallCode, statuses = [] }: RawDecision): Verdict {
  if (overallCode !== 'OK' && overallCode !== OVER)
    throw new Error('the answer holds no decision, expected an overallCode of OK or OVER_LIMIT');
  const read = statuses.map(({ code, currentLimit, durationUntilReset }): LimitStatus => {
    return {
      isOver: code === OVER,
      // A limit of 0 is left out in JSON.
      limit: currentLimit ? (currentLimit.requestsPerUnit ?? 0) : undefined,
      resetSeconds: readSeconds(durationUntilReset),
    };
  });
  return toVerdict(overallCode === OVER, read);
}

type RawDuration = NonNullable<RawDecision['statuses']>[number]['durationUntilReset'];

/** `12s`, `1.5s` or `{seconds}`; undefined when it is no time. */
function readSeconds(duration: RawDuration): number | undefined {
  const text = typeof duration === 'object' ? duration?.seconds : duration?.replace(/s$/, '');
  const seconds = Number(text ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}
