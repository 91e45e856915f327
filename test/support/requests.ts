import type { DecisionRequest, RequestDescriptor } from '../../src/core/model';

/** A descriptor from `key=value` texts: `descriptor('user=ann', 'path=/cart')`. */
export function descriptor(
  entries: string | readonly string[],
  more: Partial<RequestDescriptor> = {},
): RequestDescriptor {
  const texts = typeof entries === 'string' ? [entries] : entries;
  return {
    entries: texts.map((text) => {
      const at = text.indexOf('=');
      return at === -1
        ? { key: text, value: '' }
        : { key: text.slice(0, at), value: text.slice(at + 1) };
    }),
    limit: undefined,
    hits: undefined,
    isNegativeHits: false,
    ...more,
  };
}

export function request(
  domain: string,
  descriptors: readonly (RequestDescriptor | string)[],
  hitsAddend = 0,
): DecisionRequest {
  return {
    domain,
    descriptors: descriptors.map((one) => (typeof one === 'string' ? descriptor(one) : one)),
    hitsAddend,
  };
}
