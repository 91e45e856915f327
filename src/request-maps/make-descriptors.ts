import type { Entry, RequestDescriptor } from '../core/model';
import type { Condition, MapDescriptor, RequestFacts, ValueSource } from './request-map';
import { isIP } from 'node:net';
import { withoutPort } from '../platform/proxy-hops';

/** A value is longer than patterns are applied to, so that it is unknown whether it matches. */
export const TOO_LONG = 'too long';

/** Maximal bytes of a value for a pattern of a check: some take microseconds per byte. */
export const MAX_PATTERN_BYTES = 2_048;

/**
 * The descriptors of a request. A descriptor drops out when its condition is false, or when one of its entries has no value.
 * @param hits of each descriptor; undefined: those of the request
 */
export function makeDescriptors(
  descriptors: readonly MapDescriptor[],
  facts: RequestFacts,
  hits?: number,
): readonly RequestDescriptor[] {
  return make(descriptors, facts, hits, Infinity) as readonly RequestDescriptor[];
}

/** As above, for arbitrary input of clients; `TOO_LONG` where a pattern would be applied to more than `MAX_PATTERN_BYTES`. */
export function makeDescriptorsOfClient(
  descriptors: readonly MapDescriptor[],
  facts: RequestFacts,
  hits?: number,
): readonly RequestDescriptor[] | typeof TOO_LONG {
  return make(descriptors, facts, hits, MAX_PATTERN_BYTES);
}

function make(
  descriptors: readonly MapDescriptor[],
  facts: RequestFacts,
  hits: number | undefined,
  maxBytes: number,
): readonly RequestDescriptor[] | typeof TOO_LONG {
  const made: RequestDescriptor[] = [];
  for (const descriptor of descriptors) {
    const entries = makeEntries(descriptor, facts, maxBytes);
    if (entries === TOO_LONG) return TOO_LONG;
    if (entries !== undefined)
      made.push({ entries, limit: undefined, hits, isNegativeHits: false });
  }
  return made;
}

function makeEntries(
  { when, entries }: MapDescriptor,
  facts: RequestFacts,
  maxBytes: number,
): Entry[] | typeof TOO_LONG | undefined {
  const holds = when === undefined || doesHold(when, facts, maxBytes);
  if (holds !== true) return holds === false ? undefined : holds;
  const made: Entry[] = [];
  for (const { key, source, match } of entries) {
    let value = read(source, facts);
    if (value === undefined) return undefined;
    if (match !== undefined) {
      if (isLonger(value, maxBytes)) return TOO_LONG;
      value = match(value);
      if (value === undefined) return undefined;
    }
    made.push({ key, value });
  }
  return made;
}

function doesHold(
  { field, isPattern, holds }: Condition,
  facts: RequestFacts,
  maxBytes: number,
): boolean | typeof TOO_LONG {
  const value = facts.field(field);
  if (value === undefined) return false;
  return isPattern && isLonger(value, maxBytes) ? TOO_LONG : holds(value);
}

/** Maximal bytes in UTF-8 per code unit of a string. */
const MAX_UNIT_BYTES = 3;

/** Compares only the length of the string where that decides. */
export function isLonger(text: string, maxBytes: number): boolean {
  return text.length * MAX_UNIT_BYTES > maxBytes && Buffer.byteLength(text) > maxBytes;
}

function read(source: ValueSource, facts: RequestFacts): string | undefined {
  switch (source.kind) {
    case 'value':
      return source.value;
    case 'field':
      return facts.field(source.field);
    case 'header':
      return facts.header(source.name);
    case 'cookie':
      return cookieOf(facts.header('cookie'), source.name);
    case 'parameter':
      return parameterOf(facts.field('query'), source.name);
    case 'masked_address': {
      const address = facts.field(source.field);
      return address && maskAddress(address, source.v4, source.v6);
    }
  }
}

/** `10.1.2.3` under 24 bits is `10.1.2.0/24`, as Envoy writes it; a port after the address is removed. */
export function maskAddress(written: string, v4: number, v6: number): string | undefined {
  const bare = withoutPort(written);
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

/** The first cookie with a name, without quotes around its value; undefined when there is none, or an empty one. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  return findPart(header, { name, separator: ';', read: unquoted });
}

/** The first parameter with a name in a query, decoded; undefined when there is none, or an empty one. */
export function parameterOf(query: string | undefined, name: string): string | undefined {
  return findPart(query, { name, separator: '&', read: decodeForm });
}

interface PartWanted {
  readonly name: string;
  readonly separator: string;
  readonly read: (written: string) => string;
}

/** Visits `name=value` parts one by one: a client may write thousands of them. */
function findPart(
  text: string | undefined,
  { name, separator, read }: PartWanted,
): string | undefined {
  if (text === undefined) return undefined;
  let start = 0;
  while (start <= text.length) {
    const next = text.indexOf(separator, start);
    const end = next === -1 ? text.length : next;
    const part = text.slice(start, end);
    const equals = part.indexOf('=');
    const written = equals === -1 ? part : part.slice(0, equals);
    if (read(written.trim()) === name) {
      const value = equals === -1 ? '' : read(part.slice(equals + 1).trim());
      return value === '' ? undefined : value;
    }
    start = end + 1;
  }
  return undefined;
}

function unquoted(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1)
    : value;
}

function decodeForm(written: string): string {
  return decodePercent(written.replaceAll('+', ' '));
}

const CODES = /(?:%[0-9a-f]{2})+/gi;

/** Decodes percent codes to bytes, in UTF-8; broken codes stay, bytes that are not UTF-8 become U+FFFD. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(CODES, (codes) => Buffer.from(codes.replaceAll('%', ''), 'hex').toString());
}
