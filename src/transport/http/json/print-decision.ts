import type { Decision, DescriptorStatus, Header } from '../../../core/model';

/**
 * A RateLimitResponse in proto3 JSON: camelCase, enums by name, default values omitted, durations as seconds with an `s`, bytes in
 * base64.
 */
export function printDecision(decision: Decision): string {
  const { overallCode, statuses, responseHeaders, rawBody, dynamicMetadata } = decision;
  return JSON.stringify({
    overallCode,
    statuses: statuses.length === 0 ? undefined : statuses.map(toStatus),
    responseHeadersToAdd: responseHeaders.length === 0 ? undefined : responseHeaders.map(toHeader),
    rawBody: rawBody === undefined ? undefined : Buffer.from(rawBody).toString('base64'),
    dynamicMetadata,
  });
}

function toStatus({ code, currentLimit, limitRemaining, secondsUntilReset }: DescriptorStatus) {
  return {
    code,
    currentLimit: currentLimit && {
      name: currentLimit.name || undefined,
      requestsPerUnit: currentLimit.requestsPerUnit || undefined,
      unit: currentLimit.unit === 'UNKNOWN' ? undefined : currentLimit.unit,
      unitMultiplier: currentLimit.unitMultiplier,
    },
    limitRemaining: limitRemaining || undefined,
    durationUntilReset:
      secondsUntilReset === undefined ? undefined : `${String(secondsUntilReset)}s`,
  };
}

function toHeader({ key, value }: Header) {
  return { key: key || undefined, value: value || undefined };
}
