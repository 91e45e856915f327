import type { ErrorClass } from '../../../../fields/report';
import { nearestName } from '../../../../fields/names';
import { quote, type LocatedMap } from '../../../../fields/located';
import * as schemas from '../../../../fields/schema';
import type { FieldType } from '../../../../fields/types';
import { UNIT_SECONDS, unitOfName, type Unit } from '../../../units';

/** Types of fields that only rule files have. */

/** A map whose fields are those of a level. `words`: in tables of the docs; `ofList`: ends the message about a list. */
export function mapOf(
  level: string,
  words: string,
  ofList?: string,
): FieldType<LocatedMap | undefined> {
  return {
    read: (fields, name) => fields.mapOf(name, ofList),
    words,
    schema: { anyOf: [referenceTo(level), schemas.ABSENT] },
  };
}

/** A list of such maps. */
export function listOf(level: string, words: string): FieldType<readonly LocatedMap[]> {
  return {
    read: (fields, name) => fields.mapsOf(name),
    words,
    schema: { type: ['array', 'null'], items: referenceTo(level) },
  };
}

export function referenceTo(level: string): schemas.Schema {
  return { $ref: `#/definitions/${level}` };
}

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
const UNIT_OF_TIME = Object.keys(UNIT_MS).join('|');
/** Go's, without a sign. */
const DURATION = new RegExp(`^(?:${NUMBER}(?:${UNIT_OF_TIME}))+$`);
const PART = new RegExp(`(${NUMBER})(${UNIT_OF_TIME})`, 'g');

/** The longest duration that is read; longer texts are never needed. */
const MAX_LENGTH = 64;

/** How a time is written. */
interface TimeForm {
  readonly pattern: RegExp;
  readonly called: string;
  readonly examples: string;
  readonly mistake: ErrorClass;
}

/** As in settings: `90s`, `1h30m`. */
const ANY_DURATION: TimeForm = {
  pattern: DURATION,
  called: 'duration',
  examples: '90s, 10m or 1h30m',
  mistake: 'bad-duration',
};

/** A whole number of one unit. */
export const SIMPLE_TIME: TimeForm = {
  pattern: /^(\d{1,6})([smh])$/,
  called: 'time',
  examples: '10s, 5m or 1h',
  mistake: 'bad-limits-from',
};

/** Whole milliseconds; undefined when absent. `least` and `most` are durations. */
export function duration(
  least: string,
  most: string,
  { pattern, called, examples, mistake } = ANY_DURATION,
): FieldType<number | undefined> {
  const [leastMs = 0, mostMs = 0] = [least, most].map(millisOf);
  return {
    read: (fields, name) => {
      const text = fields.text(name);
      if (text === undefined || text === '') return undefined;
      const ms = pattern.test(text) ? millisOf(text) : undefined;
      if (ms !== undefined && ms >= leastMs && ms <= mostMs) return ms;
      const expected = `a ${called} from ${least} to ${most}, such as ${examples}`;
      fields.error(name, mistake, `${name} ${quote(text)} is not ${expected}`);
      return undefined;
    },
    words: `${called}, \`${least}\` to \`${most}\``,
    schema: schemas.textLike(pattern),
  };
}

function millisOf(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(PART))
    total += Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return Math.round(total);
}

const UNITS = Object.keys(UNIT_SECONDS).map((unit) => unit.toLowerCase());

/** Undefined when it is missing, which is a mistake too. */
export const UNIT: FieldType<Unit | undefined> = {
  read: (fields, name) => {
    const text = fields.text(name);
    if (text === undefined) return undefined;
    const unit = unitOfName(text);
    if (unit !== undefined || fields.isMisspelled(name)) return unit;
    const found = text === '' ? `${name} is missing: expected` : `${name} ${quote(text)} is not`;
    const hint = text === '' ? ', or unlimited: true' : hintOfUnit(text);
    fields.error(name, 'bad-unit', `${found} one of ${UNITS.join(', ')}${hint}`);
    return undefined;
  },
  words: UNITS.map((unit) => `\`${unit}\``).join(', '),
  schema: { anyOf: [schemas.anyCase(UNITS), schemas.NOTHING] },
};

/** Usual abbreviations of units; `m` is a minute, as in Go. */
const ABBREVIATIONS: Readonly<Record<string, Unit>> = {
  s: 'SECOND',
  sec: 'SECOND',
  secs: 'SECOND',
  m: 'MINUTE',
  min: 'MINUTE',
  mins: 'MINUTE',
  h: 'HOUR',
  hr: 'HOUR',
  hrs: 'HOUR',
  d: 'DAY',
  w: 'WEEK',
  wk: 'WEEK',
  mo: 'MONTH',
  y: 'YEAR',
  yr: 'YEAR',
};

/** The probable meaning of a text that is not a unit: `5m` is a unit and a multiplier; empty when nothing is near. */
function hintOfUnit(text: string): string {
  const [, count = '', word = ''] = /^(\d{0,9}) ?([a-z]+)$/.exec(text.toLowerCase()) ?? [];
  const unit = unitOf(word);
  if (unit === undefined) return '';
  const multiplier = Number(count);
  const beside = multiplier > 1 ? ` with unit_multiplier: ${String(multiplier)}` : '';
  return `; did you mean ${quote(unit)}${beside}?`;
}

function unitOf(word: string): string | undefined {
  if (Object.hasOwn(ABBREVIATIONS, word)) return ABBREVIATIONS[word]?.toLowerCase();
  return nearestName(word, UNITS);
}
