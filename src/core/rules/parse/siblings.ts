import { quote, type LocatedMap } from '../../../fields/located';
import { describePlace, type Place } from '../../../fields/problem';
import type { Report } from '../../../fields/report';
import type { RuleDefinition } from '../definition';
import { SEE_SEVERAL_LIMITS } from './table/descriptor';

/** The siblings of one level by `key` or `key_value`. */
export type Siblings = Map<
  string,
  { readonly file: string; readonly at: Place; readonly entry: string }
>;

function describeEntry(key: string, value: string | undefined, isHidden: boolean): string {
  if (value === undefined) return `key ${quote(key)}`;
  return `key ${quote(key)} with value ${isHidden ? '(secret)' : quote(value)}`;
}

/** Two entries whose `key` or `key_value` read the same share a metric, and usually a counter. */
export function checkSiblings(
  map: LocatedMap,
  rule: RuleDefinition,
  siblings: Siblings,
  report: Report,
): void {
  const { key, valueHash, secret } = rule;
  if (key === '') return;
  const value = valueHash ?? rule.value;
  const isHidden = secret !== undefined && valueHash === undefined;
  const text = value === undefined ? key : `${key}_${value}`;
  const entry = describeEntry(key, value, isHidden);
  const first = siblings.get(text);
  if (first === undefined) {
    siblings.set(text, { file: report.file, at: map.at, entry });
    return;
  }
  const where = first.file === report.file ? '' : ` of ${first.file}`;
  const place = `${describePlace(first.at)}${where}`;
  const message =
    first.entry === entry
      ? `${entry} is already defined ${place}; expected each key and value once on a level; ${SEE_SEVERAL_LIMITS}`
      : `${entry} reads the same in counters and metrics${isHidden ? '' : `, ${quote(text)},`} as ${first.entry} ${place}`;
  report.error(map.at, 'duplicate-descriptor', message);
}
