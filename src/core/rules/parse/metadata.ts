import type { Json, JsonObject } from '../../model';
import { warnOfDuplicate } from '../../../fields/names';
import {
  describe,
  MAX_DEPTH,
  type Located,
  type LocatedMap,
  type LocatedScalar,
} from '../../../fields/located';
import type { Place } from '../../../fields/problem';
import type { Report } from '../../../fields/report';
import { resolveScalar } from '../../../fields/scalars';
import type { RuleFields } from './rule-fields';

/**
 * A rule's free-form metadata as plain JSON. Its own keys become strings as written (`yes`); those of nested maps are resolved by
 * YAML 1.1 like values (`yes` becomes `true`, `010` becomes `8`), as in the reference. What JSON cannot represent (`.nan`, `.inf`,
 * dates) becomes a string as written.
 */
export function readMetadata(fields: RuleFields<'descriptor'>): JsonObject | undefined {
  const map = fields.read('metadata');
  return map && toObject(map, 1, fields.report);
}

function toObject(map: LocatedMap, depth: number, report: Report): JsonObject {
  const places = new Map<string, Place>();
  const members: [string, Json][] = [];
  for (const { key, value } of map.pairs) {
    if (key.kind === 'scalar') {
      const name = depth === 1 ? key.text : String(toLeaf(key));
      warnOfDuplicate(places, key, name, report);
      members.push([name, toJson(value, depth, report)]);
    } else {
      const message = `a key in metadata must be a string or a number; found ${describe(key)}`;
      report.error(key.at, 'non-string-key', message);
    }
  }
  // fromEntries defines members; an assignment to `__proto__` would not.
  return Object.fromEntries(members);
}

function toJson(node: Located, depth: number, report: Report): Json {
  if (node.kind === 'scalar') return toLeaf(node);
  if (depth >= MAX_DEPTH) {
    const message = `metadata is nested deeper than ${String(MAX_DEPTH)} lists and maps`;
    report.error(node.at, 'too-deep', message);
    return null;
  }
  if (node.kind === 'map') return toObject(node, depth + 1, report);
  return node.items.map((item) => toJson(item, depth + 1, report));
}

function toLeaf(scalar: LocatedScalar): null | boolean | number | string {
  const resolved = resolveScalar(scalar);
  if (resolved.type === 'null') return null;
  if (typeof resolved.value === 'number' && !Number.isFinite(resolved.value)) return scalar.text;
  return resolved.value;
}
