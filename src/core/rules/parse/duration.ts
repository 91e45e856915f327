import type { Fields } from '../../../fields/fields';
import { quote } from '../../../fields/located';

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
const WHOLE = new RegExp(`^(?:${NUMBER}(?:${UNIT}))+$`);
const PART = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

/** The longest duration that is read; longer texts are never needed. */
const MAX_LENGTH = 64;

/** Minimum and maximum, as durations. */
export interface DurationBounds {
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
  if (text.length > MAX_LENGTH || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(PART))
    total += Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return Math.round(total);
}
