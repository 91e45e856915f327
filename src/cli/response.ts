import type {
  RawHeader,
  RawQuota,
  RawRateLimitResponse,
  RawStatus,
  RawStruct,
  RawTime,
  RawValue,
} from '../platform/rate-limit-response';
import type { Descriptor } from './options';

/** The rule that refused, from RESPONSE_DYNAMIC_METADATA: its key in statistics, its name, and its limit. */
export function limitedBy({ dynamicMetadata }: RawRateLimitResponse): string | undefined {
  const { limitedBy: rule, limitedByName, limitedByLimit } = dynamicMetadata?.fields ?? {};
  if (rule?.stringValue === undefined) return undefined;
  const name = limitedByName?.stringValue;
  const limit = limitedByLimit?.stringValue;
  return [
    rule.stringValue,
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...(limit === undefined ? [] : [`its limit ${limit}`]),
  ].join(', ');
}

/** The answer in proto3 JSON, ready for JSON.stringify. Only the well-known types need a conversion. */
export function toProtoJson(response: RawRateLimitResponse): object {
  const { statuses, dynamicMetadata, quota } = response;
  return {
    ...response,
    ...(statuses && { statuses: statuses.map(toStatus) }),
    ...(dynamicMetadata && { dynamicMetadata: toObject(dynamicMetadata) }),
    ...(quota && { quota: toQuota(quota) }),
  };
}

function toStatus(status: RawStatus): object {
  const { currentLimit, durationUntilReset, quota } = status;
  return {
    ...status,
    ...(currentLimit && { currentLimit: toLimit(currentLimit) }),
    ...(durationUntilReset && { durationUntilReset: toDuration(durationUntilReset) }),
    ...(quota && { quota: toQuota(quota) }),
  };
}

function toLimit(limit: NonNullable<RawStatus['currentLimit']>): object {
  const { unitMultiplier } = limit;
  return { ...limit, ...(unitMultiplier && { unitMultiplier: unitMultiplier.value ?? 0 }) };
}

/** `599s`, `1.500s`: no, three, six or nine digits of a fraction, as in the JSON mapping. */
function toDuration({ seconds = '0', nanos = 0 }: RawTime): string {
  const digits = String(nanos)
    .padStart(9, '0')
    .replace(/(?:000){1,3}$/, '');
  return digits === '' ? `${seconds}s` : `${seconds}.${digits}s`;
}

function toQuota(quota: RawQuota): object {
  const { validUntil } = quota;
  return { ...quota, ...(validUntil && { validUntil: toTimestamp(validUntil) }) };
}

function toTimestamp({ seconds = '0', nanos = 0 }: RawTime): string {
  return new Date(Number(seconds) * 1_000 + nanos / 1_000_000).toISOString();
}

function toObject({ fields = {} }: RawStruct): object {
  // Object.fromEntries defines own properties, so that __proto__ is an ordinary key.
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toValue(value)]));
}

function toValue(value: RawValue): unknown {
  if (value.structValue !== undefined) return toObject(value.structValue);
  if (value.listValue !== undefined) return (value.listValue.values ?? []).map(toValue);
  return value.stringValue ?? value.numberValue ?? value.boolValue ?? null;
}

/** The answer for a person: the overall code, then a line for each descriptor. */
export function toText(response: RawRateLimitResponse, descriptors: readonly Descriptor[]): string {
  const { overallCode = 'UNKNOWN', statuses = [], responseHeadersToAdd = [] } = response;
  const by = limitedBy(response);
  return [
    `overall: ${String(overallCode)}${by === undefined ? '' : `, limited by ${by}`}`,
    ...statuses.map((status, index) => toLine(status, descriptors[index])),
    ...responseHeadersToAdd.map(headerLine),
    '',
  ].join('\n');
}

function toLine(status: RawStatus, descriptor: Descriptor | undefined): string {
  const { code = 'UNKNOWN', durationUntilReset } = status;
  const entries = (descriptor?.entries ?? []).map(({ key, value }) => `${key}=${value}`);
  const reset = durationUntilReset && `resets in ${toDuration(durationUntilReset)}`;
  return `  ${entries.join(',')}: ${[code, ...limitParts(status), ...(reset ? [reset] : [])].join(', ')}`;
}

function limitParts({ currentLimit, limitRemaining = 0 }: RawStatus): string[] {
  if (currentLimit === undefined) return [limitRemaining > 0 ? 'unlimited' : 'no limit'];
  const { name = '', requestsPerUnit = 0, unit, unitMultiplier } = currentLimit;
  const rule = name === '' ? [] : [`rule ${JSON.stringify(name)}`];
  return [
    `limit ${String(requestsPerUnit)}${periodText(unit, unitMultiplier?.value)}`,
    ...rule,
    `remaining ${String(limitRemaining)}`,
  ];
}

/** Empty for a period of several units whose service does not send their number (UNIT_MULTIPLIER_ON_WIRE). */
function periodText(unit: string | number = 'UNKNOWN', count = 1): string {
  if (typeof unit === 'number' || unit === 'UNKNOWN') return '';
  const word = unit.toLowerCase();
  return count === 1 ? ` per ${word}` : ` per ${String(count)} ${word}s`;
}

function headerLine({ key = '', value = '' }: RawHeader): string {
  return `  header ${key}: ${value}`;
}
