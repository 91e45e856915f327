import type { Entry, RequestDescriptor } from '../core/model';
import { maskAddress } from './mask-address';
import { cookieOf, parameterOf } from './named-parts';
import type { MapDescriptor, MapEntry, RequestFacts, ValueSource } from './request-map';

/**
 * What a request asks about. A descriptor drops out when its condition does not hold, or when one of its entries has no value.
 * @param hits of each descriptor; undefined: those of the request
 */
export function makeDescriptors(
  descriptors: readonly MapDescriptor[],
  facts: RequestFacts,
  hits?: number,
): readonly RequestDescriptor[] {
  const made: RequestDescriptor[] = [];
  for (const descriptor of descriptors) {
    const entries = makeEntries(descriptor, facts);
    if (entries !== undefined)
      made.push({ entries, limit: undefined, hits, isNegativeHits: false });
  }
  return made;
}

function makeEntries({ when, entries }: MapDescriptor, facts: RequestFacts): Entry[] | undefined {
  if (when !== undefined) {
    const value = facts.field(when.field);
    if (value === undefined || !when.holds(value)) return undefined;
  }
  const made: Entry[] = [];
  for (const entry of entries) {
    const value = valueOf(entry, facts);
    if (value === undefined) return undefined;
    made.push({ key: entry.key, value });
  }
  return made;
}

function valueOf({ source, match }: MapEntry, facts: RequestFacts): string | undefined {
  const value = read(source, facts);
  return value === undefined || match === undefined ? value : match(value);
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
