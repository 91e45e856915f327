import type { CallHeaders } from '../core/ports';

/** W3C Trace Context §3.2.2; the version `00` has no more fields, later ones may. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
const FLAGS_AT = 53;
const LENGTH_OF_00 = 55;

/**
 * What the caller decided about the trace that its call belongs to; undefined when it has none, or left that open.
 * Asked for every call, so it makes nothing.
 */
export function isSampledByCaller({ names, values }: CallHeaders): boolean | undefined {
  let traceparent: string | undefined;
  let b3: string | undefined;
  let b3Sampled: string | undefined;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    // A number is compared faster than a text: most fields are none of these lengths.
    switch (name.length) {
      case 11:
        // Two of them mean none (§3.2).
        if (name === 'traceparent') traceparent = traceparent === undefined ? values[i] : '';
        break;
      case 2:
        if (name === 'b3') b3 = values[i];
        break;
      case 10:
        if (name === 'x-b3-flags' && values[i] === '1') b3Sampled = 'd';
        break;
      case 12:
        if (name === 'x-b3-sampled') b3Sampled ??= values[i];
        break;
    }
  }
  return ofTraceparent(traceparent) ?? ofB3(b3, b3Sampled);
}

function ofTraceparent(text: string | undefined): boolean | undefined {
  if (text === undefined || text.length < LENGTH_OF_00 || !TRACEPARENT.test(text)) return undefined;
  if (text.length > LENGTH_OF_00 && text.startsWith('00')) return undefined;
  return (Number.parseInt(text.slice(FLAGS_AT, LENGTH_OF_00), 16) & 1) === 1;
}

/** The state alone, or behind trace and span: `80f198…-e457b5…-1`, then perhaps the parent of the span. */
const B3 = /^(?:[\da-f]{16}){1,2}-[\da-f]{16}-([01d])(?:-[\da-f]{16})?$|^([01d])$/;

function ofB3(single: string | undefined, sampled: string | undefined): boolean | undefined {
  const found = single === undefined ? undefined : B3.exec(single);
  const state = found?.[1] ?? found?.[2] ?? sampled?.toLowerCase();
  if (state === '1' || state === 'd' || state === 'true') return true;
  return state === '0' || state === 'false' ? false : undefined;
}
