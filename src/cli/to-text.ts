import type { Descriptor } from './options';
import {
  limitedBy,
  type RawHeader,
  type RawResponse,
  type RawStatus,
  toDuration,
} from './response';

/** The answer for a person: the overall code, then a line for each descriptor. */
export function toText(response: RawResponse, descriptors: readonly Descriptor[]): string {
  const { overallCode = 'UNKNOWN', statuses = [], responseHeadersToAdd = [] } = response;
  const by = limitedBy(response);
  return [
    `overall: ${overallCode}${by === undefined ? '' : `, limited by ${by}`}`,
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
function periodText(unit = 'UNKNOWN', count = 1): string {
  if (unit === 'UNKNOWN') return '';
  const word = unit.toLowerCase();
  return count === 1 ? ` per ${word}` : ` per ${String(count)} ${word}s`;
}

function headerLine({ key = '', value = '' }: RawHeader): string {
  return `  header ${key}: ${value}`;
}
