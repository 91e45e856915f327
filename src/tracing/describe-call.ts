import type { Attributes } from '@opentelemetry/api';
import type { DecisionRequest } from '../core/model';
import type { Answer, CallKind } from '../core/ports';

/** What the span of a call says. Never a value of a descriptor: it may be a person's. */
export function attributesOf(
  kind: CallKind,
  answer: Answer,
  request: DecisionRequest | undefined,
): Attributes {
  const attributes: Attributes = {
    ...kind.attributes,
    [kind.statusAttribute]: kind.statusOf(answer),
  };
  if (request !== undefined) {
    attributes['ratelimit.domain'] = request.domain;
    attributes['ratelimit.descriptors'] = request.descriptors.length;
  }
  if (answer.kind === 'failure') attributes['error.type'] = answer.code;
  else {
    attributes['ratelimit.code'] = answer.overallCode;
    attributes['ratelimit.limits'] = limitsOf(answer.statuses);
  }
  return attributes;
}

/** How many descriptors have a limit. */
function limitsOf(statuses: readonly { readonly currentLimit: unknown }[]): number {
  return statuses.filter(({ currentLimit }) => currentLimit !== undefined).length;
}

/** A request that makes no sense is its caller's error, not the service's. */
export function errorOf(answer: Answer): string | undefined {
  return answer.kind === 'failure' && answer.code !== 'invalid_request'
    ? answer.message
    : undefined;
}
