import type { CallHeaders, HeaderPlaceholder } from '../core/ports';

/** W3C Trace Context §3.2.2; version 00 has no more fields, later ones may. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
const FLAGS_AT = 53;
const LENGTH_OF_00 = 55;
const TRACEPARENT_LENGTH = 'traceparent'.length;

/**
 * The client's decision about the trace of its call; undefined when there is no trace, or no decision. Runs for every
 * call and allocates nothing.
 */
export function isSampledByCaller(headers: CallHeaders): boolean | undefined {
  const { names } = headers;
  let mayHaveB3 = false;
  // Proxies append theirs after the fields of the call.
  for (let at = names.length - 1; at >= 0; at--) {
    const name = names[at] as string;
    // Most names differ in length: comparing numbers first is faster.
    if (name.length === TRACEPARENT_LENGTH && name === 'traceparent') return ofW3c(headers, at);
    mayHaveB3 ||= isB3(name);
  }
  return mayHaveB3 ? ofB3(headers) : undefined;
}

/** By the last `traceparent`, at index `at`. */
function ofW3c(headers: CallHeaders, at: number): boolean | undefined {
  const { names, values } = headers;
  const last = values[at] as string;
  if (last === UNSAMPLED || PLAINLY_UNSAMPLED.test(last)) return false;
  // Two of them mean none (W3C Trace Context §3.2).
  const decided = names.indexOf('traceparent') === at ? ofTraceparent(last) : undefined;
  return decided ?? ofB3(headers);
}

/** Whether a field of B3 is among them. */
export function hasB3(names: readonly string[]): boolean {
  for (const name of names) if (isB3(name)) return true;
  return false;
}

function isB3(name: string): boolean {
  const { length } = name;
  if (length === 2) return name === 'b3';
  return (length === 10 || length === 12) && name.startsWith('x-b3-');
}

function ofTraceparent(text: string): boolean | undefined {
  if (text.length < LENGTH_OF_00 || !TRACEPARENT.test(text)) return undefined;
  if (text.length > LENGTH_OF_00 && text.startsWith('00')) return undefined;
  return (Number.parseInt(text.slice(FLAGS_AT, LENGTH_OF_00), 16) & 1) === 1;
}

const ZERO = 48;
const DASH = 45;
const TRACE_AT = 3;
const PARENT_AT = 36;

/** Version 00, flags 00, ids that are not all zeros. Their other digits are not checked. */
const PLAINLY_UNSAMPLED = /^00-(?!0{32})[^]{32}-(?!0{16})[^]{16}-00$/;

/** Replaces every `traceparent` of version 00 with flags 00: its ids are never read. */
const UNSAMPLED = `00-${'1'.repeat(32)}-${'1'.repeat(16)}-00`;

/** Recognises the value of nearly every call without creating a string. */
export const UNSAMPLED_PLACEHOLDER: HeaderPlaceholder = {
  name: 'traceparent',
  placeholderFor: (bytes, length) =>
    length === LENGTH_OF_00 && areUnsampled(bytes) ? UNSAMPLED : undefined,
};

/** As above, on raw bytes. */
function areUnsampled(bytes: Uint8Array): boolean {
  return (
    bytes[FLAGS_AT] === ZERO &&
    bytes[FLAGS_AT + 1] === ZERO &&
    bytes[0] === ZERO &&
    bytes[1] === ZERO &&
    areSomeIds(bytes)
  );
}

function areSomeIds(bytes: Uint8Array): boolean {
  return (
    bytes[TRACE_AT - 1] === DASH &&
    bytes[PARENT_AT - 1] === DASH &&
    bytes[FLAGS_AT - 1] === DASH &&
    hasMoreThanZeros(bytes, TRACE_AT, PARENT_AT - 1) &&
    hasMoreThanZeros(bytes, PARENT_AT, FLAGS_AT - 1)
  );
}

function hasMoreThanZeros(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== ZERO) return true;
  return false;
}

/** The state alone, or after trace and span: `80f198…-e457b5…-1`, then perhaps the parent of the span. */
const B3 = /^(?:(?:[\da-f]{16}){1,2}-[\da-f]{16}-)?([01d])(?:-[\da-f]{16})?$/;

const DECISIONS: ReadonlyMap<string | undefined, boolean> = new Map([
  ['d', true],
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** https://github.com/openzipkin/b3-propagation: one header, or one for each part. */
function ofB3({ names, values }: CallHeaders): boolean | undefined {
  const valueOf = (wanted: string) => values[names.indexOf(wanted)];
  const state = B3.exec(valueOf('b3') ?? '')?.[1];
  if (state !== undefined) return DECISIONS.get(state);
  if (valueOf('x-b3-flags') === '1') return true;
  return DECISIONS.get(valueOf('x-b3-sampled')?.toLowerCase());
}
