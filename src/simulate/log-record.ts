import type { DecisionRequest } from '../core/model';

/** One request of a log: its time, and the proxy's request to the service. */
export interface LogRecord {
  /** Unix seconds, with fraction. */
  readonly timeSeconds: number;
  readonly request: DecisionRequest;
}

/** A line that is not a request: the reason, in words that can follow "line 12: ". */
export class UnreadableLine extends Error {
  override readonly name = 'UnreadableLine';
}

/**
 * Reads one line. Undefined: the line is valid but makes no request, as where every descriptor of a map drops out. Throws
 * `UnreadableLine`.
 */
export type ReadRecord = (line: string) => LogRecord | undefined;

/** The formats of a line's time. */
export const TIME_FORMATS = ['rfc3339', 'unix', 'unix_ms', 'clf'] as const;

export type TimeFormat = (typeof TIME_FORMATS)[number];

const RFC_3339 = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i;
const CLF = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Unix seconds of a text or number in a format; throws `UnreadableLine`. */
export function readTime(value: unknown, format: TimeFormat): number {
  const seconds = secondsOf(value, format);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new UnreadableLine(`the time ${JSON.stringify(value)} is not in the format ${format}`);
}

function secondsOf(value: unknown, format: TimeFormat): number {
  if (format === 'unix') return toNumber(value);
  if (format === 'unix_ms') return toNumber(value) / 1_000;
  if (typeof value !== 'string') return NaN;
  return format === 'clf' ? fromClf(value) : fromRfc3339(value);
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;
}

/** Cache of the last second: most lines of a log have the second of the previous line. */
let lastSecond = '';
let lastZone = '';
let lastSeconds = NaN;

/** Digits below a millisecond count too: a proxy logs microseconds. */
function fromRfc3339(text: string): number {
  const [, second, fraction, zone] = RFC_3339.exec(text) ?? [];
  if (second === undefined || zone === undefined) return NaN;
  if (second !== lastSecond || zone !== lastZone) {
    lastSeconds = Date.parse(`${second.replace(/[t ]/, 'T')}${withColon(zone)}`) / 1_000;
    lastSecond = second;
    lastZone = zone;
  }
  return fraction === undefined ? lastSeconds : lastSeconds + Number(fraction);
}

/** `22/Nov/2026:14:00:00 +0100`, as in the combined log format. */
function fromClf(text: string): number {
  const [, day, name = '', year, time, zone = ''] = CLF.exec(text) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  if (month === 0) return NaN;
  const date = `${year ?? ''}-${String(month).padStart(2, '0')}-${day ?? ''}`;
  return Date.parse(`${date}T${time ?? ''}${withColon(zone)}`) / 1_000;
}

function withColon(zone: string): string {
  return zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2').toUpperCase();
}
