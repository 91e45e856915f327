import { quote } from '../../../fields/located';
import type { BlockDefinition } from '../definition';
import { ruleFields, type RuleFields } from './rule-fields';
import type { Fields } from '../../../fields/fields';

/** Milliseconds of each unit of Go's durations. */
const UNIT_MS = {
  ns: 0.000_001,
  us: 0.001,
  µs: 0.001,
  μs: 0.001,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
} as const;

const NUMBER = String.raw`(?:\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})`;
const UNIT = Object.keys(UNIT_MS).join('|');
/** Go's, without a sign. */
export const DURATION = new RegExp(`^(?:${NUMBER}(?:${UNIT}))+$`);
const PART = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

/** The longest duration that is read; longer texts are never needed. */
const MAX_LENGTH = 64;

/** Minimum and maximum, as durations. */
interface DurationBounds {
  readonly least: string;
  readonly most: string;
}

/** Whole milliseconds; undefined when absent or invalid (reported). Durations are Go's, as in settings: `90s`, `1h30m`. */
export function readDuration<Name extends string>(
  fields: Fields<Name>,
  name: Name,
  { least, most }: DurationBounds,
): number | undefined {
  const text = fields.text(name);
  if (text === undefined || text === '') return undefined;
  const ms = millisOf(text);
  if (ms !== undefined && ms >= (millisOf(least) ?? 0) && ms <= (millisOf(most) ?? 0)) return ms;
  const message = `${name} ${quote(text)} is not a duration from ${least} to ${most}, such as 90s, 10m or 1h30m`;
  fields.error(name, 'bad-duration', message);
  return undefined;
}

function millisOf(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(PART))
    total += Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return Math.round(total);
}

/** At most a year. */
const RANGE: DurationBounds = { least: '1ms', most: '8760h' };

/** `after` of a block. */
export const REFUSALS = { least: 1, most: 1_000_000 };

/**
 * `block` of a rule or of one limit, with its defaults filled in; undefined when there is none. Mistakes are reported.
 * `periodSeconds`: the (longest) period of what it blocks; undefined: it has none.
 */
export function readBlock(
  holder: RuleFields<'rate_limit'> | RuleFields<'descriptor'>,
  periodSeconds: number | undefined,
): BlockDefinition | undefined {
  const map = holder.mapOf('block');
  if (map === undefined) return undefined;
  const fields = ruleFields(map, 'block', holder.report);
  const forMs = readFor(fields);
  const after = fields.has('after') ? fields.whole('after', REFUSALS, 'bad-after') : 1;
  const withinMs = readDuration(fields, 'within', RANGE);
  if (after === 1) warnOfIdleWithin(fields);
  const lastsMs = forMs ?? 0;
  return {
    after: after ?? 1,
    withinMs: withinMs ?? (periodSeconds === undefined ? lastsMs : periodSeconds * 1_000),
    forMs: lastsMs,
    upToMs: readUpTo(fields, forMs) ?? lastsMs,
  };
}

/** Undefined: a mistake, which is reported. */
function readFor(fields: RuleFields<'block'>): number | undefined {
  if (fields.text('for') !== '' || fields.isMisspelled('for'))
    return readDuration(fields, 'for', RANGE);
  const message = 'block has no for: expected how long it lasts, such as for: 15m';
  fields.error('for', 'missing-for', message);
  return undefined;
}

/** One refusal is enough: `within` has no effect. */
function warnOfIdleWithin(fields: RuleFields<'block'>): void {
  if (!fields.has('within') || fields.isMisspelled('after')) return;
  const message = 'within has no effect with after: 1, under which the first refusal blocks';
  fields.warning('within', 'idle-key', message);
}

function readUpTo(fields: RuleFields<'block'>, forMs: number | undefined): number | undefined {
  const upToMs = readDuration(fields, 'up_to', RANGE);
  if (upToMs === undefined || forMs === undefined || upToMs >= forMs) return upToMs;
  const [upTo, lasts] = [fields.text('up_to') ?? '', fields.text('for') ?? ''];
  const message = `up_to ${quote(upTo)} is shorter than for ${quote(lasts)}; expected at least as long`;
  fields.error('up_to', 'up-to-below-for', message);
  return undefined;
}
