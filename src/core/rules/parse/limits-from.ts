import { quote } from '../../../fields/located';
import type { LimitsFromDefinition } from '../definition';
import { ruleFields, type RuleFields } from './rule-fields';

const DEFAULT_REFRESH_MS = 10_000;
const MS_OF = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const MAX_REFRESH_MS = 24 * MS_OF.h;

/** Where the limits of values stand; undefined when the rule holds for all alike. What is wrong in it is reported. */
export function readLimitsFrom(
  limit: RuleFields<'rate_limit'>,
  unlimited: boolean,
): LimitsFromDefinition | undefined {
  const map = limit.mapOf('limits_from');
  if (map === undefined) return undefined;
  if (unlimited) {
    const message =
      'limits_from cannot be combined with unlimited: true; expected unit and requests_per_unit, which apply to values without a field';
    limit.error('limits_from', 'bad-limits-from', message);
  }
  const fields = ruleFields(map, 'limits_from', limit.report);
  const key = fields.text('key');
  if (key === '' && !fields.isMisspelled('key')) {
    const message = 'limits_from has no key: expected the key of a hash in the counter store';
    fields.error('key', 'bad-limits-from', message);
  }
  return { key: key ?? '', refreshMs: readRefresh(fields) };
}

function readRefresh(fields: RuleFields<'limits_from'>): number {
  const text = fields.text('refresh');
  if (text === undefined || text === '') return DEFAULT_REFRESH_MS;
  const [, digits = '', unit = 's'] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(digits) * MS_OF[unit as keyof typeof MS_OF];
  if (ms > 0 && ms <= MAX_REFRESH_MS) return ms;
  const message = `refresh ${quote(text)} is not a time from 1s to 24h, such as 10s, 5m or 1h`;
  fields.error('refresh', 'bad-limits-from', message);
  return DEFAULT_REFRESH_MS;
}
