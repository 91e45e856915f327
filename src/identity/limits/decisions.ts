export type DescriptorEntries = readonly { readonly key: string; readonly value: string }[];

/** The decision service's answer to one request. */
export interface LimitVerdict {
  readonly isOver: boolean;
  /** Requests per window of the exceeded limit; undefined when the answer does not contain it. */
  readonly limit: number | undefined;
  /** The longest time until a window of an exceeded limit ends. */
  readonly resetSeconds: number | undefined;
}

/** How the identity service gets decisions: in process, by gRPC or by `POST /json` (behaviour.md §7.7). */
export interface Decisions {
  /** Counts one hit. Rejects within its time-out when there is no decision. */
  ask(descriptor: DescriptorEntries): Promise<LimitVerdict>;
  close(): Promise<void>;
}

/** The domain of the rules that protect this service. */
export const DOMAIN = 'identity';

/** The overall code decides, since shadow mode turns it to OK; of the exceeded statuses the one with the longest wait counts. */
export function toVerdict(isOver: boolean, statuses: readonly LimitVerdict[]): LimitVerdict {
  const reset = ({ resetSeconds = 0 }: LimitVerdict): number => resetSeconds;
  const [longest] = statuses
    .filter((status) => status.isOver)
    .toSorted((left, right) => reset(right) - reset(left));
  return { isOver, limit: longest?.limit, resetSeconds: longest?.resetSeconds };
}

/** The relevant fields of a RateLimitResponse, in the form of proto3 JSON and proto-loader. */
export interface RawDecision {
  readonly overallCode?: string | number;
  readonly statuses?: readonly {
    readonly code?: string | number;
    readonly currentLimit?: { readonly requestsPerUnit?: number } | null;
    readonly durationUntilReset?: string | { readonly seconds?: string | number } | null;
  }[];
}

const OVER = 'OVER_LIMIT';

/** Throws when the answer contains no decision. */
export function readDecision({ overallCode, statuses = [] }: RawDecision): LimitVerdict {
  if (overallCode !== 'OK' && overallCode !== OVER)
    throw new Error('the answer holds no decision, expected an overallCode of OK or OVER_LIMIT');
  const read = statuses.map(({ code, currentLimit, durationUntilReset }): LimitVerdict => {
    return {
      isOver: code === OVER,
      // A limit of 0 is omitted in JSON.
      limit: currentLimit ? (currentLimit.requestsPerUnit ?? 0) : undefined,
      resetSeconds: readSeconds(durationUntilReset),
    };
  });
  return toVerdict(overallCode === OVER, read);
}

type RawDuration = NonNullable<RawDecision['statuses']>[number]['durationUntilReset'];

/** `12s`, `1.5s` or `{seconds}`; undefined when it is not a duration. */
function readSeconds(duration: RawDuration): number | undefined {
  const text = typeof duration === 'object' ? duration?.seconds : duration?.replace(/s$/, '');
  const seconds = Number(text ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

export interface RemoteOptions {
  /** `host:port` of the decision service. */
  readonly target: string;
  readonly timeoutMs: number;
}

/** Decisions by `POST /json`. */
export function createJsonDecisions({ target, timeoutMs }: RemoteOptions): Decisions {
  const url = `http://${target}/json`;
  return {
    async ask(entries) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ domain: DOMAIN, descriptors: [{ entries }] }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const body: unknown = await response.json();
      if (response.status !== 200 && response.status !== 429)
        throw new Error(`${url} answered ${String(response.status)}`);
      return readDecision(Object(body) as RawDecision);
    },
    close: () => Promise.resolve(),
  };
}
