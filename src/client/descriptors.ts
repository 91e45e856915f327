import { mistake } from './options';

/** Key and value pairs in the order of the rules. */
export type DescriptorPairs = readonly (readonly [key: string, value: string])[];
/** The descriptors of a request, which passes when none of them is over its limit. */
export type Descriptors = readonly DescriptorPairs[];

/** envoy.extensions.common.ratelimit.v3.RateLimitDescriptor for proto-loader. */
export interface DescriptorMessage {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  /** A google.protobuf.UInt64Value: with 0 it is present and empty. */
  readonly hitsAddend?: { readonly value?: number };
}

const MAX_ID_BYTES = 256;
/** Maximum of a request's `hits_addend` (uint32). */
export const MAX_REQUEST_HITS = 4_294_967_295;

/** Throws a TypeError that names the place. Values are not shown: they may be secrets. */
export function parseDescriptors(descriptors: Descriptors): readonly DescriptorMessage[] {
  if (!Array.isArray(descriptors) || descriptors.length === 0)
    throw wrong('descriptors', descriptors, 'a list of at least one descriptor');
  return (descriptors as Descriptors).map((descriptor, index) =>
    parseDescriptor(descriptor, `descriptors[${String(index)}]`),
  );
}

export function parseDescriptor(descriptor: DescriptorPairs, name: string): DescriptorMessage {
  if (!Array.isArray(descriptor) || descriptor.length === 0)
    throw wrong(name, descriptor, 'a list of at least one [key, value]');
  return {
    entries: (descriptor as DescriptorPairs).map((entry, index) => {
      const place = `${name}[${String(index)}]`;
      const [key, value, ...more] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
      if (!Array.isArray(entry) || more.length > 0) throw wrong(place, entry, '[key, value]');
      if (typeof key !== 'string') throw wrong(`the key of ${place}`, key, 'a string');
      if (typeof value !== 'string') throw wrong(`the value of ${place}`, value, 'a string');
      return { key, value };
    }),
  };
}

/** The descriptor of a reservation: its own entries, then `reserve` or `settle` with the id (docs/client/README.md). Throws a TypeError. */
export function toReservation(
  descriptor: DescriptorPairs,
  step: 'reserve' | 'settle',
  id: string,
  hits: number | undefined,
): DescriptorMessage {
  const { entries } = parseDescriptor(descriptor, 'descriptor');
  if (typeof id !== 'string') throw wrong('id', id, 'a string');
  const bytes = Buffer.byteLength(id);
  if (bytes === 0 || bytes > MAX_ID_BYTES)
    throw new TypeError(`id has ${String(bytes)} bytes, expected 1 to ${String(MAX_ID_BYTES)}`);
  const message = { entries: [...entries, { key: step, value: id }] };
  return hits === undefined
    ? message
    : withHits(message, parseHits(hits, 0, Number.MAX_SAFE_INTEGER));
}

/** Sets its own hits; 0 is a read. */
export function withHits(message: DescriptorMessage, hits: number): DescriptorMessage {
  return { ...message, hitsAddend: hits === 0 ? {} : { value: hits } };
}

export function parseHits(hits: number, least: number, most: number): number {
  if (Number.isSafeInteger(hits) && hits >= least && hits <= most) return hits;
  throw mistake('hits', hits, `a whole number from ${String(least)} to ${String(most)}`);
}

function wrong(name: string, value: unknown, expected: string): TypeError {
  return new TypeError(`${name} is ${describe(value)}, expected ${expected}`);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${String(value.length)}`;
  return value === undefined || value === null ? String(value) : `of type ${typeof value}`;
}
