import { quote, type Located } from './located';
import type { Report } from './report';
import { readText } from './values';

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

/** The longest text of a duration that is read: longer ones say nothing that a shorter one does not. */
const MAX_LENGTH = 64;

/** A duration from a least to a most one, which are durations too. */
export interface DurationBounds {
  readonly least: string;
  readonly most: string;
}

/** Whole milliseconds; undefined when absent, or something else (reported). Durations are Go's, as in settings: `90s`, `1h30m`. */
export function readDuration(
  node: Located | undefined,
  name: string,
  { least, most }: DurationBounds,
  report: Report,
): number | undefined {
  const text = readText(node, name, report);
  if (node === undefined || text === undefined || text === '') return undefined;
  const ms = millisOf(text);
  if (ms !== undefined && ms >= (millisOf(least) ?? 0) && ms <= (millisOf(most) ?? 0)) return ms;
  const message = `${name} ${quote(text)} is not a duration from ${least} to ${most}, such as 90s, 10m or 1h30m`;
  report.error(node.at, 'bad-duration', message);
  return undefined;
}

function millisOf(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(PART))
    total += Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return Math.round(total);
}
