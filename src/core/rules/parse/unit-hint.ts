import { nearestName } from '../../../fields/nearest-name';
import { UNIT_SECONDS, type Unit } from '../../units';
import { quote } from '../../../fields/located';

/** How durations are mostly abbreviated; `m` is a minute, as in Go. */
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

const UNITS = Object.keys(UNIT_SECONDS).map((unit) => unit.toLowerCase());

/** What was most likely meant by a text that is not a unit: `5m` is a unit and a multiplier; empty when nothing is near. */
export function hintOfUnit(text: string): string {
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
