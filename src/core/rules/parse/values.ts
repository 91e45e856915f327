import { describe, quote, type Located, type LocatedMap } from './located';
import { nearestName } from '../../nearest-name';
import type { Place } from './problem';
import type { Report } from './report';
import { resolveScalar } from './scalars';

/** The node of a field; undefined when nothing is written there: missing, empty, `~` or `null`. */
export function present(node: Located | undefined): Located | undefined {
  const isNull = node?.kind === 'scalar' && resolveScalar(node).type === 'null';
  return isNull ? undefined : node;
}

/** Whether something is written there, other than `false` or an empty list. */
export function isSet(field: Located | undefined): boolean {
  const node = present(field);
  if (node?.kind === 'list') return node.items.length > 0;
  const scalar = node?.kind === 'scalar' ? resolveScalar(node) : undefined;
  return node !== undefined && !(scalar?.type === 'boolean' && !scalar.value);
}

/**
 * A text: unquoted words, whole numbers and booleans keep what is written (`010`, `yes`). Empty when
 * absent, undefined when it is something else (reported).
 */
export function readText(
  field: Located | undefined,
  name: string,
  report: Report,
): string | undefined {
  const node = present(field);
  if (node === undefined) return '';
  if (node.kind === 'scalar') {
    if (resolveScalar(node).type !== 'fraction') return node.text;
    const message = `${name} must be a string, found the unquoted fraction ${node.text}: quote it, ${quote(node.text)}`;
    report.error(node.at, 'wrong-type', message);
  } else reportType(node, name, 'a string', report);
  return undefined;
}

/** A text of a fixed set; undefined when absent, empty or something else, of which `onMistake` hears. */
export function readOneOf<T extends string>(
  node: Located | undefined,
  name: string,
  known: readonly T[],
  report: Report,
  onMistake: (at: Place, message: string) => void,
): T | undefined {
  const text = readText(node, name, report);
  if (node === undefined || text === undefined || text === '') return undefined;
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  const nearest = nearestName(text, known);
  const hint = nearest === undefined ? '' : `; did you mean ${quote(nearest)}?`;
  onMistake(node.at, `${name} ${quote(text)} is not one of ${known.join(', ')}${hint}`);
  return undefined;
}

/** A boolean; false when absent or something else (reported). */
export function readFlag(field: Located | undefined, name: string, report: Report): boolean {
  const node = present(field);
  if (node === undefined) return false;
  const resolved = node.kind === 'scalar' ? resolveScalar(node) : undefined;
  if (resolved?.type === 'boolean') return resolved.value;
  reportType(node, name, 'a boolean (true or false, unquoted)', report);
  return false;
}

const UINT32_MAX = 4_294_967_295;

/** A whole number that fits into 32 bits; undefined when it is something else (reported). */
export function readUint32(node: Located, name: string, report: Report): number | undefined {
  const range = { least: 0, most: UINT32_MAX };
  return readWholeNumber(node, name, range, (message) => {
    report.error(node.at, 'wrong-type', message);
  });
}

/** A whole number of a range; undefined when it is something else. */
export function readWholeNumber(
  node: Located,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
  onMistake: (message: string) => void,
): number | undefined {
  const resolved = node.kind === 'scalar' ? resolveScalar(node) : undefined;
  if (resolved?.type === 'integer' && resolved.value >= least && resolved.value <= most) {
    return resolved.value;
  }
  const expected = `a whole number from ${String(least)} to ${String(most)}, unquoted`;
  onMistake(`${name} must be ${expected}; found ${describe(node)}`);
  return undefined;
}

/** The elements of a list of maps; none when absent or something else (reported). */
export function readMaps(
  field: Located | undefined,
  name: string,
  report: Report,
): readonly LocatedMap[] {
  const node = present(field);
  if (node === undefined) return [];
  if (node.kind !== 'list') {
    reportType(node, name, 'a list', report);
    return [];
  }
  return node.items.filter((item): item is LocatedMap => {
    if (item.kind === 'map') return true;
    const message = `${name} must be a list of maps, found ${describe(item)} in it`;
    report.error(item.at, 'list-of-non-maps', message);
    return false;
  });
}

/** How to have what one entry of `rate_limit` cannot have. */
export const SEE_SEVERAL_LIMITS =
  'for several limits of one value use rate_limits, see docs/rules.md';

/** The map of a field; undefined when absent or something else (reported). */
export function readMap(
  field: Located | undefined,
  name: string,
  report: Report,
): LocatedMap | undefined {
  const node = present(field);
  if (node === undefined || node.kind === 'map') return node;
  const isSeveral = name === 'rate_limit' && node.kind === 'list';
  const message = `${name} must be a map; found ${describe(node)}`;
  report.error(node.at, 'wrong-type', isSeveral ? `${message}; ${SEE_SEVERAL_LIMITS}` : message);
  return undefined;
}

function reportType(node: Located, name: string, expected: string, report: Report): void {
  report.error(node.at, 'wrong-type', `${name} must be ${expected}; found ${describe(node)}`);
}
