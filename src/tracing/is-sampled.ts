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
  let at = -1;
  let hasTwo = false;
  let hasB3 = false;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (name.length === 11 && name === 'traceparent') {
      hasTwo ||= at >= 0;
      at = i;
    } else if (isB3(name)) hasB3 = true;
  }
  // Two of them mean none (§3.2).
  const decided = at < 0 || hasTwo ? undefined : ofTraceparent(values[at] as string);
  return decided === undefined && hasB3 ? ofB3(headers) : decided;
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
