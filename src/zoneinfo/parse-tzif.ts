import type { ZoneData } from '../core/windows/zone-data';
import { checkOffset } from './check-offset';
import { parseYearlyRule } from './parse-yearly-rule';

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
