import type { Decision, DecisionRequest, Json, JsonObject, RequestDescriptor } from '../model';
import type { RuleLimit } from '../rules/rules';
import { redactedRequest, type Secrets } from '../rules/secrets';
import { hitsOf } from './request';

/** A decision as the decision log shows it. */
export interface DecisionRecord {
  /** RFC 3339. */
  readonly time: string;
  readonly request: DecisionRequest;
  readonly decision: Decision;
  /** For each descriptor the metric key of its rule; undefined where no rule matched. */
  readonly metrics: readonly (string | undefined)[];
  /** For each descriptor what it does with a reservation; undefined: nothing. */
  readonly reservations?: readonly RuleLimit['reservation'][];
  /** For each descriptor the limit of its rule's list that its status reports; undefined: no rule has a list. */
  readonly limits?: readonly (string | undefined)[] | undefined;
  /** For each descriptor whether leased hits answered it without the store; undefined: for none. */
  readonly leased?: readonly boolean[] | undefined;
  /** The secrets of the rules: the record has tokens in place of secret values. */
  readonly secrets: Secrets | undefined;
  /** A limit was exceeded, and shadow mode answered OK. */
  readonly isShadow?: boolean;
  /** Only quotas refused it, no hard limit did. */
  readonly isQuota?: boolean;
  /** The trace id of a traced call: 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
}

/**
 * One decision as plain JSON, its fields in a fixed order:
 * `{"time","domain","descriptors":[[[key,value]]],"hits","rules","code","statuses":[[code,limit,unit,remaining]]}`, then
 * `"limits":["hour"]`, `"shadow":true`, `"quota":true`, `"leased":[true]` and `"trace"` where they apply. `hits` is null for a
 * settle that charges its reserved hits.
 */
export function toDecisionRecord(record: DecisionRecord): JsonObject {
  const { time, decision, metrics, reservations, secrets } = record;
  const { limits, isShadow, isQuota, leased, traceId } = record;
  const request = redactedRequest(secrets, record.request);
  return {
    time,
    domain: request.domain,
    descriptors: request.descriptors.map(toPairs),
    hits: request.descriptors.map((descriptor, at) =>
      reservations?.[at] === 'settle' && descriptor.hits === undefined
        ? null
        : Number(hitsOf(request, descriptor)),
    ),
    rules: request.descriptors.map((_, at) => metrics[at] ?? null),
    code: decision.overallCode,
    statuses: decision.statuses.map(({ code, currentLimit, limitRemaining }) =>
      currentLimit === undefined
        ? [code]
        : [code, currentLimit.requestsPerUnit, currentLimit.unit, limitRemaining],
    ),
    ...(limits !== undefined && { limits: limits.map((limit) => limit ?? null) }),
    ...(isShadow === true && { shadow: true }),
    ...(isQuota === true && { quota: true }),
    ...(leased !== undefined && { leased }),
    ...(traceId !== undefined && { trace: traceId }),
  };
}

function toPairs({ entries }: RequestDescriptor): Json {
  return entries.map(({ key, value }) => [key, value]);
}
