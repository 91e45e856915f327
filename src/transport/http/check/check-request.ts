import type { DecisionRequest, RequestDescriptor } from '../../../core/model';
import type { Check } from '../../../request-maps/check/check';
import { makeDescriptors } from '../../../request-maps/make-descriptors';
import type { CallFacts } from './call-facts';
import type { AskedCheck } from './check-call';

/** What a call asks the decisions; `none`: its map made no descriptor of it. A text: why it makes no sense. */
export function toRequest(
  facts: CallFacts,
  { check, question }: AskedCheck,
  maxValueBytes: number,
): DecisionRequest | { readonly malformed: string } | 'none' {
  const isQuota = question === 'quota';
  const descriptors = makeDescriptors(check.descriptors, facts, isQuota ? 0 : undefined);
  if (descriptors.length === 0) return 'none';
  if (descriptors.some((descriptor) => hasLongValue(descriptor, maxValueBytes)))
    return { malformed: `a value has more bytes than MAX_VALUE_BYTES (${String(maxValueBytes)})` };
  const hitsAddend = isQuota ? 0 : hitsOf(facts, check);
  return { domain: check.domain, descriptors, hitsAddend };
}

/** Most bytes of a character in UTF-8, for each of its units in a string. */
const MAX_UNIT_BYTES = 3;

function hasLongValue({ entries }: RequestDescriptor, maxBytes: number): boolean {
  return entries.some(
    ({ value }) => value.length * MAX_UNIT_BYTES > maxBytes && Buffer.byteLength(value) > maxBytes,
  );
}

const WHOLE = /^[1-9]\d{0,9}$/;
const MAX_HITS = 4_294_967_295;

/** A whole number from 1; anything else is 1. */
function hitsOf(facts: CallFacts, { hitsHeader }: Check): number {
  const said = hitsHeader === undefined ? '' : (facts.header(hitsHeader) ?? '');
  return WHOLE.test(said) && Number(said) <= MAX_HITS ? Number(said) : 1;
}
