import type { Descriptor } from './options';
import { type RawHeader, type RawResponse, type RawStatus, toDuration } from './response';

/** The answer for a person: the overall code, then a line for each descriptor. */
export function toText(response: RawResponse, descriptors: readonly Descriptor[]): string {
  const { overallCode = 'UNKNOWN', statuses = [], responseHeadersToAdd = [] } = response;
  return [
    `overall: ${overallCode}`,
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
  const { name = '', requestsPerUnit = 0, unit } = currentLimit;
  const rule = name === '' ? [] : [`rule ${JSON.stringify(name)}`];
  // A period of several units has no word in the message.
  const period = unit === undefined || unit === 'UNKNOWN' ? '' : ` per ${unit.toLowerCase()}`;
  return [
    `limit ${String(requestsPerUnit)}${period}`,
    ...rule,
    `remaining ${String(limitRemaining)}`,
  ];
}

function headerLine({ key = '', value = '' }: RawHeader): string {
  return `  header ${key}: ${value}`;
}
