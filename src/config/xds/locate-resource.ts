import type { Located, LocatedMap, LocatedPair } from '../../core/rules/parse/located';
import type {
  RateLimitConfig,
  RateLimitDescriptor,
  RateLimitPolicy,
  Struct,
  Value,
} from './messages';

/** What a rule file would say: a tree for `parseRuleFiles`, and where its "lines" stand in the resource. */
export interface LocatedResource {
  readonly root: LocatedMap;
  /** By line: the path of a descriptor, `descriptors[2].descriptors[0]`; line 0 is the resource itself. */
  readonly paths: readonly string[];
}

/** Messages have no lines. Each descriptor counts as one, in the order in which they are read. */
export function locateResource({ domain, descriptors }: RateLimitConfig): LocatedResource {
  const paths = [''];
  const root = map(0, [
    pair(0, 'domain', text(0, domain)),
    pair(0, 'descriptors', locateList(0, '', descriptors, paths)),
  ]);
  return { root, paths };
}

function locateList(
  line: number,
  parentPath: string,
  descriptors: readonly RateLimitDescriptor[] | undefined,
  paths: string[],
): Located | undefined {
  if (descriptors === undefined) return undefined;
  const items = descriptors.map((descriptor, index) => {
    const path = `${parentPath}descriptors[${String(index)}]`;
    return locateDescriptor(descriptor, path, paths);
  });
  return { kind: 'list', line, column: 0, items };
}

function locateDescriptor(
  descriptor: RateLimitDescriptor,
  path: string,
  paths: string[],
): LocatedMap {
  const line = paths.push(path) - 1;
  const { key, value, rateLimit, metadata } = descriptor;
  return map(line, [
    pair(line, 'key', text(line, key)),
    pair(line, 'value', text(line, value)),
    pair(line, 'rate_limit', rateLimit && locateLimit(line, rateLimit)),
    pair(line, 'shadow_mode', flag(line, descriptor.shadowMode)),
    pair(line, 'detailed_metric', flag(line, descriptor.detailedMetric)),
    pair(line, 'quota_mode', flag(line, descriptor.quotaMode)),
    pair(line, 'metadata', metadata && locateStruct(line, metadata)),
    pair(line, 'descriptors', locateList(line, `${path}.`, descriptor.descriptors, paths)),
  ]);
}

/** Without `requests_per_unit` a message says 0, where a rule file says nothing. */
function locateLimit(line: number, policy: RateLimitPolicy): LocatedMap {
  const { unit, requestsPerUnit = 0, unlimited, name, replaces } = policy;
  const isUnit = unit !== undefined && unit !== 'UNKNOWN';
  const names = replaces?.map((one) => map(line, [pair(line, 'name', text(line, one.name))]));
  return map(line, [
    pair(line, 'unit', isUnit ? text(line, String(unit)) : undefined),
    pair(line, 'requests_per_unit', plain(line, String(requestsPerUnit))),
    pair(line, 'unlimited', flag(line, unlimited)),
    pair(line, 'name', text(line, name)),
    pair(line, 'replaces', names && { kind: 'list', line, column: 0, items: names }),
  ]);
}

function locateStruct(line: number, { fields = {} }: Struct): LocatedMap {
  const pairs = Object.entries(fields).map(([name, value]) => ({
    key: quoted(line, name),
    value: locateValue(line, value),
  }));
  return { kind: 'map', line, column: 0, pairs };
}

function locateValue(line: number, value: Value): Located {
  const { stringValue, numberValue, boolValue, structValue, listValue } = value;
  if (stringValue !== undefined) return quoted(line, stringValue);
  if (numberValue !== undefined) return plain(line, String(numberValue));
  if (boolValue !== undefined) return plain(line, String(boolValue));
  if (structValue !== undefined) return locateStruct(line, structValue);
  if (listValue === undefined) return plain(line, 'null');
  const items = (listValue.values ?? []).map((item) => locateValue(line, item));
  return { kind: 'list', line, column: 0, items };
}

function map(line: number, pairs: readonly (LocatedPair | undefined)[]): LocatedMap {
  return { kind: 'map', line, column: 0, pairs: pairs.filter((one) => one !== undefined) };
}

function pair(line: number, key: string, value: Located | undefined): LocatedPair | undefined {
  return value && { key: quoted(line, key), value };
}

/** The zero value of a field is the same as none. */
function text(line: number, value: string | undefined): Located | undefined {
  return value === undefined || value === '' ? undefined : quoted(line, value);
}

function flag(line: number, value: boolean | undefined): Located | undefined {
  return value === true ? plain(line, 'true') : undefined;
}

function quoted(line: number, value: string): Located {
  return { kind: 'scalar', line, column: 0, text: value, quoted: true };
}

function plain(line: number, value: string): Located {
  return { kind: 'scalar', line, column: 0, text: value, quoted: false };
}
