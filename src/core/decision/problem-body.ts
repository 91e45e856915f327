import { policyNames, type NamedPolicy } from './policy-name';

/** The content type of a problem (RFC 9457), as a header of the answer. */
export const PROBLEM_HEADER = { key: 'Content-Type', value: 'application/problem+json' } as const;

interface StoppedBy extends NamedPolicy {
  readonly isOver: boolean;
  readonly isShadow: boolean;
}

/**
 * The body for a client that is over its limit: a problem of the type that draft-ietf-httpapi-ratelimit-headers asks for, with
 * the policies by the names that they have in its headers.
 */
export function problemBody(all: readonly StoppedBy[]): string {
  const statuses = all.filter(({ isShadow }) => !isShadow);
  const names = policyNames(statuses);
  return JSON.stringify({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'A rate limit is exceeded',
    'violated-policies': names.filter((_, at) => statuses[at]?.isOver === true),
  });
}
