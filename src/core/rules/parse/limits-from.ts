import type { LimitsFromDefinition } from '../definition';
import { readFields } from './fields';
import { quote, type Located } from './located';
import type { Report } from './report';
import { present, readMap, readText } from './values';

const DEFAULT_REFRESH_MS = 10_000;
const MS_OF = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const MAX_REFRESH_MS = 24 * MS_OF.h;

/** Where the limits of values stand; undefined when the rule holds for all alike. What is wrong in it is reported. */
export function readLimitsFrom(
  field: Located | undefined,
  unlimited: boolean,
  report: Report,
): LimitsFromDefinition | undefined {
  const node = present(field);
  const map = readMap(node, 'limits_from', report);
  if (node === undefined || map === undefined) return undefined;
  if (unlimited) {
    const message =
      'limits_from cannot be combined with unlimited: true; expected unit and requests_per_unit, which apply to values without a field';
    report.error(node.at, 'bad-limits-from', message);
  }
  const fields = readFields(map, 'limits_from', report);
  const keyNode = fields.get('key');
  const key = readText(keyNode, 'key', report);
  if (key === '' && !fields.isMisspelled('key')) {
    const message = 'limits_from has no key: expected the key of a hash in the counter store';
    report.error((keyNode ?? map).at, 'bad-limits-from', message);
  }
  return { key: key ?? '', refreshMs: readRefresh(fields.get('refresh'), report) };
}

function readRefresh(node: Located | undefined, report: Report): number {
  const text = readText(node, 'refresh', report);
  if (node === undefined || text === undefined || text === '') return DEFAULT_REFRESH_MS;
  const [, digits = '', unit = 's'] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(digits) * MS_OF[unit as keyof typeof MS_OF];
  if (ms > 0 && ms <= MAX_REFRESH_MS) return ms;
  const message = `refresh ${quote(text)} is not a time from 1s to 24h, such as 10s, 5m or 1h`;
  report.error(node.at, 'bad-limits-from', message);
  return DEFAULT_REFRESH_MS;
}
