import type { CallHeaders, HeaderStandIn } from '../core/ports';

/** W3C Trace Context §3.2.2; version 00 has no more fields, later ones may. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
const FLAGS_AT = 53;
const LENGTH_OF_00 = 55;
const TRACEPARENT_LENGTH = 'traceparent'.length;

/**
 * What the caller decided about the trace that its call belongs to; undefined when it has none, or left that open.
 * Asked for every call, so it makes nothing.
 */
export function isSampledByCaller(headers: CallHeaders): boolean | undefined {
  const { names } = headers;
  let mayHaveB3 = false;
  // Proxies add theirs behind what the call is about.
  for (let at = names.length - 1; at >= 0; at--) {
    const name = names[at] as string;
    // A number is compared faster than a text: most names are none of these lengths.
    if (name.length === TRACEPARENT_LENGTH && name === 'traceparent') return ofW3c(headers, at);
    mayHaveB3 ||= isB3(name);
  }
  return mayHaveB3 ? ofB3(headers) : undefined;
}

/** By the last `traceparent`, which stands at `at`. */
function ofW3c(headers: CallHeaders, at: number): boolean | undefined {
  const { names, values } = headers;
  const last = values[at] as string;
  if (last === UNSAMPLED || isPlainlyUnsampled(last)) return false;
  // Two of them mean none (W3C Trace Context §3.2).
  const decided = names.indexOf('traceparent') === at ? ofTraceparent(last) : undefined;
  return decided ?? ofB3(headers);
}

/** Whether there is a field of B3 among them. */
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

/** Stands for every `traceparent` of version 00 with flags 00: nobody reads its ids. */
const UNSAMPLED = `00-${'1'.repeat(32)}-${'1'.repeat(16)}-00`;

/** What nearly every call says, without making a text of it. */
export const UNSAMPLED_STAND_IN: HeaderStandIn = {
  name: 'traceparent',
  textFor: (octets, length) =>
    length === LENGTH_OF_00 && areUnsampled(octets) ? UNSAMPLED : undefined,
};

/** Version 00, flags 00, ids that are not all zeros. Their other digits are not looked at. */
function areUnsampled(octets: Uint8Array): boolean {
  return (
    octets[FLAGS_AT] === ZERO &&
    octets[FLAGS_AT + 1] === ZERO &&
    octets[0] === ZERO &&
    octets[1] === ZERO &&
    areSomeIds(octets)
  );
}

function areSomeIds(octets: Uint8Array): boolean {
  return (
    octets[TRACE_AT - 1] === DASH &&
    octets[PARENT_AT - 1] === DASH &&
    octets[FLAGS_AT - 1] === DASH &&
    hasMoreThanZeros(octets, TRACE_AT, PARENT_AT - 1) &&
    hasMoreThanZeros(octets, PARENT_AT, FLAGS_AT - 1)
  );
}

function hasMoreThanZeros(octets: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (octets[at] !== ZERO) return true;
  return false;
}

const scratch = new Uint8Array(LENGTH_OF_00);

function isPlainlyUnsampled(text: string): boolean {
  if (text.length !== LENGTH_OF_00) return false;
  for (let at = 0; at < LENGTH_OF_00; at++) scratch[at] = text.charCodeAt(at);
  return areUnsampled(scratch);
}

/** The state alone, or behind trace and span: `80f198…-e457b5…-1`, then perhaps the parent of the span. */
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
