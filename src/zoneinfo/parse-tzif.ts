import type { ZoneData, YearlyChange, YearlyChanges, YearlyDay } from '../core/windows/zone-data';
import { MAX_OFFSET_SECONDS } from '../core/windows/time-zone';

const MAGIC = 'TZif';
const HEADER_BYTES = 44;

/** The first block of data has 32-bit times, and is skipped. */
const TIME_BYTES = { first: 4, second: 8 };

interface Counts {
  readonly universal: number;
  readonly standard: number;
  readonly leaps: number;
  readonly times: number;
  readonly types: number;
  readonly letters: number;
}

/**
 * The 64-bit data of a TZif file (RFC 9636), the rule at its end included. Names of offsets and data before the first change are
 * ignored. Throws an error that says what was expected.
 */
export function parseTzif(bytes: Uint8Array): ZoneData {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = readHeader(view, 0);
  if (first.version < 2) throw new Error('it has no 64-bit data: expected version 2 or later');
  const at = HEADER_BYTES + bodyBytes(first.counts, TIME_BYTES.first);
  const { counts } = readHeader(view, at);
  const footerAt = at + HEADER_BYTES + bodyBytes(counts, TIME_BYTES.second);
  if (footerAt > view.byteLength) throw new Error('it ends too early: expected all that it counts');
  checkCounts(counts);
  const read = readBody(view, at + HEADER_BYTES, counts);
  return withFooter(read, footerOf(bytes, footerAt));
}

function readHeader(view: DataView, at: number) {
  if (at + HEADER_BYTES > view.byteLength)
    throw new Error('it ends too early: expected a header of 44 bytes');
  const letters = [0, 1, 2, 3].map((index) => String.fromCharCode(view.getUint8(at + index)));
  if (letters.join('') !== MAGIC)
    throw new Error('it is not a TZif file: expected it to begin with TZif');
  const digit = view.getUint8(at + 4);
  const count = (index: number) => view.getUint32(at + 20 + 4 * index);
  const counts: Counts = {
    universal: count(0),
    standard: count(1),
    leaps: count(2),
    times: count(3),
    types: count(4),
    letters: count(5),
  };
  return { version: digit === 0 ? 1 : digit - 48, counts };
}

function bodyBytes(counts: Counts, timeBytes: number): number {
  const { universal, standard, leaps, times, types, letters } = counts;
  const ofLeaps = leaps * (timeBytes + 4);
  return times * (timeBytes + 1) + types * 6 + letters + ofLeaps + standard + universal;
}

function checkCounts({ leaps, types }: Counts): void {
  if (leaps > 0) throw new Error('it counts leap seconds: expected one without ("posix")');
  if (types === 0) throw new Error('it has no offset: expected at least one');
}

/** Changes of the offset; changes of only a name are omitted. */
function readBody(view: DataView, at: number, { times, types }: Counts) {
  const typesAt = at + times * TIME_BYTES.second + times;
  const offsetOf = (type: number): number => {
    if (type >= types)
      throw new Error(`a change is of type ${String(type)}: expected one of ${String(types)}`);
    return checkOffset(view.getInt32(typesAt + 6 * type));
  };
  const changes: number[] = [];
  const offsets = [offsetOf(0)];
  let before = -Infinity;
  for (let index = 0; index < times; index += 1) {
    const time = Number(view.getBigInt64(at + index * TIME_BYTES.second));
    if (time <= before) throw new Error('its changes are out of order: expected ascending times');
    before = time;
    const offset = offsetOf(view.getUint8(at + times * TIME_BYTES.second + index));
    if (offset === offsets.at(-1)) continue;
    changes.push(time);
    offsets.push(offset);
  }
  return { changes, offsets, last: before };
}

const NEWLINE = 10;

/** The text between the two line ends after the data. */
function footerOf(bytes: Uint8Array, at: number): string {
  const end = bytes.indexOf(NEWLINE, at + 1);
  if (bytes[at] !== NEWLINE || end === -1)
    throw new Error('it has no last line: expected a rule, or nothing, between two ends of line');
  if (end - at > MAX_FOOTER) throw new Error('its last line is too long: expected a rule');
  return String.fromCharCode(...bytes.subarray(at + 1, end));
}

/** Longer than any useful rule. */
const MAX_FOOTER = 200;

interface Body {
  readonly changes: readonly number[];
  readonly offsets: readonly number[];
  /** The last of all changes, those of names included. */
  readonly last: number;
}

/** The rule applies from the last change on, even if that changed only a name. */
function withFooter({ changes, offsets, last }: Body, footer: string): ZoneData {
  if (footer === '') return { changes, offsets, yearly: undefined };
  const { standard, yearly } = parseYearlyRule(footer);
  const hasLast = last === -Infinity || changes.at(-1) === last;
  if (yearly !== undefined && hasLast) return { changes, offsets, yearly };
  const offset = yearly === undefined ? standard : (offsets.at(-1) as number);
  if (hasLast) return { changes, offsets: [...offsets.slice(0, -1), offset], yearly };
  return { changes: [...changes, last], offsets: [...offsets, offset], yearly };
}

const NAME = '(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)';
const TIME = '([+-]?)(\\d{1,3})(?::(\\d\\d))?(?::(\\d\\d))?';

const RULE = new RegExp(`^${NAME}(${TIME})(?:${NAME}(${TIME})?,([^,]+),([^,]+))?$`);
const CHANGE = /^(?:M(\d{1,2})\.([1-5])\.([0-6])|J(\d{1,3})|(\d{1,3}))(?:\/(.+))?$/;
const WHOLE_TIME = new RegExp(`^${TIME}$`);

const HOUR = 3_600;
/** The default of a rule. */
const DEFAULT_CHANGE_SECONDS = 2 * HOUR;
/** RFC 9636 section 3.3.2. */
const MAX_CHANGE_HOURS = 167;
const MAX_OFFSET_HOURS = 24;

interface ZoneRule {
  /** Seconds east of UTC, outside of summer time. */
  readonly standard: number;
  /** Undefined: nothing changes. */
  readonly yearly: YearlyChanges | undefined;
}

/** The last line of a TZif file: `CET-1CEST,M3.5.0,M10.5.0/3`. Throws an error that says what was expected. */
export function parseYearlyRule(text: string): ZoneRule {
  const found = RULE.exec(text);
  if (found === null) throw ruleError(text);
  // The four parts of an offset follow its text and are parsed again.
  const [, winterText = '', , , , , summerText, , , , , begins, ends] = found;
  const standard = offsetOf(winterText);
  if (begins === undefined || ends === undefined) return { standard, yearly: undefined };
  const summer = summerText === undefined ? checkOffset(standard + HOUR) : offsetOf(summerText);
  const yearly = { standard, summer, begins: changeOf(begins, text), ends: changeOf(ends, text) };
  return { standard, yearly };
}

function ruleError(text: string): Error {
  const shown = JSON.stringify(text.slice(0, 60));
  return new Error(
    `its last line is ${shown}: expected a rule such as "CET-1CEST,M3.5.0,M10.5.0/3"`,
  );
}

/** West of UTC in the text, east of it in the result. */
function offsetOf(text: string): number {
  const seconds = secondsOf(text, MAX_OFFSET_HOURS);
  if (seconds === undefined) throw ruleError(text);
  // No negative zero.
  return checkOffset(0 - seconds);
}

function changeOf(text: string, rule: string): YearlyChange {
  const found = CHANGE.exec(text);
  if (found === null) throw ruleError(rule);
  const [, month, week, weekday, julian, plain, time] = found;
  const seconds = time === undefined ? DEFAULT_CHANGE_SECONDS : secondsOf(time, MAX_CHANGE_HOURS);
  const day = dayOf({ month, week, weekday, julian, plain });
  if (seconds === undefined || day === undefined) throw ruleError(rule);
  return { day, seconds };
}

type DayTexts = Readonly<
  Record<'month' | 'week' | 'weekday' | 'julian' | 'plain', string | undefined>
>;

function dayOf({ month, week, weekday, julian, plain }: DayTexts): YearlyDay | undefined {
  const within = (text: string, least: number, most: number): number | undefined => {
    const value = Number(text);
    return value >= least && value <= most ? value : undefined;
  };
  if (julian !== undefined) {
    const day = within(julian, 1, 365);
    return day === undefined ? undefined : { kind: 'day-without-leap', day };
  }
  if (plain !== undefined) {
    const day = within(plain, 0, 365);
    return day === undefined ? undefined : { kind: 'day', day };
  }
  const found = within(month ?? '', 1, 12);
  if (found === undefined) return undefined;
  return { kind: 'weekday', month: found, week: Number(week), day: Number(weekday) };
}

function secondsOf(text: string, maxHours: number): number | undefined {
  const found = WHOLE_TIME.exec(text);
  if (found === null) return undefined;
  const [, sign, ...parts] = found;
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part || 0));
  if (hours > maxHours || minutes > 59 || seconds > 59) return undefined;
  const total = hours * HOUR + minutes * 60 + seconds;
  return sign === '-' ? 0 - total : total;
}

/** Throws where an offset from UTC exceeds that of any zone. */
function checkOffset(seconds: number): number {
  if (Math.abs(seconds) <= MAX_OFFSET_SECONDS) return seconds;
  throw new Error(`an offset is ${String(seconds)} s: expected at most 16 hours`);
}
