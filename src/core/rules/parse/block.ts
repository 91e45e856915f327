import type { BlockDefinition } from '../definition';
import { readDuration, type DurationBounds } from './duration';
import { readFields, type Fields } from './fields';
import { quote, type Located, type LocatedMap } from './located';
import type { Report } from './report';
import { present, readMap, readWholeNumber } from './values';

/** At most a year. */
const RANGE: DurationBounds = { least: '1ms', most: '8760h' };

const MAX_REFUSALS = 1_000_000;

/**
 * `block` of a rule or of one limit, all of it said; undefined when there is none. What is wrong in it is reported.
 * `periodSeconds`: of what it blocks, the longest of a list; undefined: that has no period.
 */
export function readBlock(
  node: Located | undefined,
  periodSeconds: number | undefined,
  report: Report,
): BlockDefinition | undefined {
  const map = readMap(node, 'block', report);
  if (map === undefined) return undefined;
  const fields = readFields(map, 'block', report);
  const forMs = readFor(map, fields, report);
  const after = readAfter(fields.get('after'), report);
  const withinMs = readDuration(fields.get('within'), 'within', RANGE, report);
  if (after === 1) warnOfIdleWithin(fields, report);
  const lastsMs = forMs ?? 0;
  return {
    after: after ?? 1,
    withinMs: withinMs ?? (periodSeconds === undefined ? lastsMs : periodSeconds * 1_000),
    forMs: lastsMs,
    upToMs: readUpTo(fields, forMs, report) ?? lastsMs,
  };
}

/** Undefined: a mistake. */
function readFor(map: LocatedMap, fields: Fields<'block'>, report: Report): number | undefined {
  const node = fields.get('for');
  if (present(node) !== undefined || fields.isMisspelled('for'))
    return readDuration(node, 'for', RANGE, report);
  const message = 'block has no for: expected how long it lasts, such as for: 15m';
  report.error((node ?? map).at, 'missing-for', message);
  return undefined;
}

/** Undefined: a mistake. */
function readAfter(field: Located | undefined, report: Report): number | undefined {
  const node = present(field);
  if (node === undefined) return 1;
  return readWholeNumber(node, 'after', { least: 1, most: MAX_REFUSALS }, (message) => {
    report.error(node.at, 'bad-after', message);
  });
}

/** One refusal is all that it takes. */
function warnOfIdleWithin(fields: Fields<'block'>, report: Report): void {
  const node = present(fields.get('within'));
  if (node === undefined || fields.isMisspelled('after')) return;
  const message = 'within has no effect with after: 1, under which the first refusal blocks';
  report.warning(node.at, 'idle-key', message);
}

function readUpTo(
  fields: Fields<'block'>,
  forMs: number | undefined,
  report: Report,
): number | undefined {
  const node = fields.get('up_to');
  const upToMs = readDuration(node, 'up_to', RANGE, report);
  if (node === undefined || upToMs === undefined || forMs === undefined || upToMs >= forMs)
    return upToMs;
  const message = `up_to ${textOf(node)} is shorter than for ${textOf(fields.get('for'))}; expected at least as long`;
  report.error(node.at, 'up-to-below-for', message);
  return undefined;
}

function textOf(node: Located | undefined): string {
  return quote(node?.kind === 'scalar' ? node.text : '');
}
