import type { CallHeaders } from '../core/ports';

/** W3C Trace Context §3.2.2; version 00 has no more fields, later ones may. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
const FLAGS_AT = 53;
const LENGTH_OF_00 = 55;

/**
 * What the caller decided about the trace that its call belongs to; undefined when it has none, or left that open.
 * Asked for every call, so it makes nothing.
 */
export function isSampledByCaller(headers: CallHeaders): boolean | undefined {
  const { names, values } = headers;
  const at = names.indexOf('traceparent');
  if (at < 0) return hasB3(names) ? ofB3(headers) : undefined;
  const first = values[at] as string;
  if (isPlainlyUnsampled(first)) return false;
  // Two of them mean none (§3.2).
  const decided = names.includes('traceparent', at + 1) ? undefined : ofTraceparent(first);
  return decided ?? ofB3(headers);
}

/** Whether there is a field of B3 among them. */
export function hasB3(names: readonly string[]): boolean {
  for (const name of names) if (isB3(name)) return true;
  return false;
}

/** A number is compared faster than a text: most names are none of these lengths. */
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
/** Behind these stand the trace id and the parent id. */
const DASHES = [2, 35] as const;

/**
 * Version 00, flags 00, ids that do not begin with zeros: what nearly every call says, told at a fraction of the cost.
 * The digits of the ids are not looked at: nobody reads them.
 */
function isPlainlyUnsampled(text: string): boolean {
  if (text.length !== LENGTH_OF_00) return false;
  if (text.charCodeAt(0) !== ZERO || text.charCodeAt(1) !== ZERO) return false;
  if (text.charCodeAt(FLAGS_AT) !== ZERO || text.charCodeAt(FLAGS_AT + 1) !== ZERO) return false;
  if (text.charCodeAt(FLAGS_AT - 1) !== DASH) return false;
  for (const at of DASHES) {
    if (text.charCodeAt(at) !== DASH || text.charCodeAt(at + 1) === ZERO) return false;
  }
  return true;
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
