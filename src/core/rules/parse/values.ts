import { describe, quote, type Located, type LocatedMap } from './located';
import type { Report } from './report';
import { resolveScalar } from './scalars';

/** The node of a field; undefined when nothing is written there: missing, empty, `~` or `null`. */
export function present(node: Located | undefined): Located | undefined {
  const isNull = node?.kind === 'scalar' && resolveScalar(node).type === 'null';
  return isNull ? undefined : node;
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
    const message = `${name} must be a text, found the unquoted fraction ${node.text}: quote it, ${quote(node.text)}`;
    report.error(node.at, 'wrong-type', message);
  } else reportType(node, name, 'a text', report);
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
  const resolved = node.kind === 'scalar' ? resolveScalar(node) : undefined;
  if (resolved?.type === 'integer' && resolved.value >= 0 && resolved.value <= UINT32_MAX) {
    return resolved.value;
  }
  reportType(node, name, `a whole number from 0 to ${String(UINT32_MAX)}, unquoted`, report);
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

/** The map of a field; undefined when absent or something else (reported). */
export function readMap(
  field: Located | undefined,
  name: string,
  report: Report,
): LocatedMap | undefined {
  const node = present(field);
  if (node === undefined || node.kind === 'map') return node;
  reportType(node, name, 'a map', report);
  return undefined;
}

function reportType(node: Located, name: string, expected: string, report: Report): void {
  report.error(node.at, 'wrong-type', `${name} must be ${expected}; found ${describe(node)}`);
}
