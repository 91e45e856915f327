import type { DecisionRequest, RequestDescriptor } from '../../../core/model';
import type { Check } from '../../../request-maps/check/check';
import {
  isLonger,
  makeDescriptorsOfClient,
  MAX_PATTERN_BYTES,
  TOO_LONG,
} from '../../../request-maps/make-descriptors';
import type { CallFacts } from './call-facts';
import type { AskedCheck } from './check-call';

/** Why a call is invalid, and its answer. */
export interface MalformedCall {
  readonly malformed: string;
  readonly status?: number;
}

/** The request to decide; `none`: its map made no descriptor. */
export function toRequest(
  facts: CallFacts,
  { check, question }: AskedCheck,
  maxValueBytes: number,
): DecisionRequest | MalformedCall | 'none' {
  const isQuota = question === 'quota';
  const descriptors = makeDescriptorsOfClient(check.descriptors, facts, isQuota ? 0 : undefined);
  if (descriptors === TOO_LONG) return { malformed: NO_PATTERN, status: check.tooLongStatus };
  if (descriptors.length === 0) return 'none';
  if (descriptors.some((descriptor) => hasLongValue(descriptor, maxValueBytes)))
    return { malformed: `a value has more bytes than MAX_VALUE_BYTES (${String(maxValueBytes)})` };
  const hitsAddend = isQuota ? 0 : hitsOf(facts, check);
  return { domain: check.domain, descriptors, hitsAddend };
}

const NO_PATTERN = `a value is longer than patterns are run over (${String(MAX_PATTERN_BYTES)} bytes)`;

function hasLongValue({ entries }: RequestDescriptor, maxBytes: number): boolean {
  return entries.some(({ value }) => isLonger(value, maxBytes));
}

const WHOLE = /^[1-9]\d{0,9}$/;
const MAX_HITS = 4_294_967_295;

/** A whole number from 1; anything else is 1. */
function hitsOf(facts: CallFacts, { hitsHeader }: Check): number {
  const header = hitsHeader === undefined ? '' : (facts.header(hitsHeader) ?? '');
  return WHOLE.test(header) && Number(header) <= MAX_HITS ? Number(header) : 1;
}
