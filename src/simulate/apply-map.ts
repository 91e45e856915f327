import { isIP } from 'node:net';
import type { Entry, RequestDescriptor } from '../core/model';
import { UnreadableLine, type LogRecord } from './log-record';
import type { LogMap, MapDescriptor, MapEntry, ValueSource } from './map-file';
import { readTime } from './read-time';

export type LineFields = Readonly<Record<string, unknown>>;

/**
 * Makes of one line the request that Envoy would have sent: a descriptor drops out when one of its entries has no value, and
 * undefined means that none was left. Throws `UnreadableLine` where the line has no time.
 */
export function applyMap(
  { domain, time, descriptors }: LogMap,
  fields: LineFields,
): LogRecord | undefined {
  const made: RequestDescriptor[] = [];
  for (const descriptor of descriptors) {
    const entries = makeEntries(descriptor, fields);
    if (entries !== undefined) {
      made.push({ entries, limit: undefined, hits: undefined, isNegativeHits: false });
    }
  }
  const written = lookUp(fields, time.field);
  if (written === undefined) throw new UnreadableLine(`the time field "${time.field}" is missing`);
  const timeSeconds = readTime(written, time.format);
  if (made.length === 0) return undefined;
  return { timeSeconds, request: { domain, descriptors: made, hitsAddend: 0 } };
}

function makeEntries({ when, entries }: MapDescriptor, fields: LineFields): Entry[] | undefined {
  if (when !== undefined) {
    const value = toText(lookUp(fields, when.field));
    if (value === undefined || !when.holds(value)) return undefined;
  }
  const made: Entry[] = [];
  for (const entry of entries) {
    const value = valueOf(entry, fields);
    if (value === undefined) return undefined;
    made.push({ key: entry.key, value });
  }
  return made;
}

function valueOf({ source, match }: MapEntry, fields: LineFields): string | undefined {
  const value = read(source, fields);
  if (value === undefined || match === undefined) return value;
  const groups = match(value);
  return groups?.[1] ?? groups?.[0];
}

function read(source: ValueSource, fields: LineFields): string | undefined {
  switch (source.kind) {
    case 'constant':
      return source.value;
    case 'field':
      return toText(lookUp(fields, source.field));
    case 'header':
      return toText(lookUpHeader(fields, source.name));
    case 'masked_address': {
      const address = toText(lookUp(fields, source.field));
      return address && maskAddress(address, source.v4, source.v6);
    }
  }
}

/** A field by its whole name, else by the path of its dots; undefined when missing, empty or a dash. */
function lookUp(fields: LineFields, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  let value: unknown = fields;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = (value as LineFields)[part];
  }
  return value;
}

/** Where logs keep a header: among `headers`, under its own name, or as nginx writes it (`http_user_agent`). */
function lookUpHeader(fields: LineFields, name: string): unknown {
  const nginx = `http_${name.replaceAll('-', '_')}`;
  return lookUp(fields, `headers.${name}`) ?? lookUp(fields, name) ?? lookUp(fields, nginx);
}

/** Envoy and nginx write a dash for what they do not know. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' && value !== '-' ? value : undefined;
}

/** `10.1.2.3` under 24 bits is `10.1.2.0/24`, as Envoy writes it; a port after the address is taken off. */
export function maskAddress(written: string, v4: number, v6: number): string | undefined {
  const bare = written.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  const version = isIP(bare);
  if (version === 0) return undefined;
  return version === 4
    ? `${clearTail(bare.split('.').map(Number), 8, v4).join('.')}/${String(v4)}`
    : `${maskIpv6(bare, v6)}/${String(v6)}`;
}

function maskIpv6(address: string, bits: number): string {
  const [left = [], right = []] = (address.split('%')[0] ?? '').split('::').map(toGroups);
  const groups = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  const masked = clearTail(groups, 16, bits).map((group) => group.toString(16));
  // A URL writes an address in its shortest form (RFC 5952).
  return new URL(`http://[${masked.join(':')}]`).hostname.slice(1, -1);
}

/** The groups of a part of an IPv6 address; a dotted IPv4 address at its end is two of them. */
function toGroups(part: string): readonly number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** Sets all bits after the first `bits` of a list of numbers to 0. */
function clearTail(numbers: readonly number[], width: number, bits: number): readonly number[] {
  return numbers.map((number, at) => {
    const kept = Math.min(width, Math.max(0, bits - at * width));
    const unit = 2 ** (width - kept);
    return Math.floor(number / unit) * unit;
  });
}
