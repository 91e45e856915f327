import type { Steps } from '../../core/steps';
import {
  refusedWith,
  type AdminAnswer,
  type AdminEndpoint,
} from '../../transport/debug/admin/admin-api';

/** An answer that is thrown, for an invalid query. */
export class RefusedQuery extends Error {
  override readonly name = 'RefusedQuery';
  readonly answer: AdminAnswer;
  constructor(answer: AdminAnswer) {
    super(String(answer.status));
    this.answer = answer;
  }
}

/** An endpoint that parses its query; mistakes are thrown as answers. */
export function listEndpoint(
  name: string,
  answerOf: (query: URLSearchParams) => Steps<AdminAnswer> | AdminAnswer,
): AdminEndpoint {
  return {
    method: 'GET',
    path: `/api/v1/${name}`,
    access: 'read',
    *handle({ query }) {
      try {
        const answer = answerOf(query);
        return 'status' in answer ? answer : yield* answer;
      } catch (error) {
        if (error instanceof RefusedQuery) return error.answer;
        throw error;
      }
    },
  };
}

/** A whole number of the query; throws a RefusedQuery for anything else. */
export function readNumber(
  query: URLSearchParams,
  name: string,
  fallback: number,
  [least, most]: readonly [number, number],
): number {
  const text = query.get(name);
  const value = text === null ? fallback : Number(text);
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  const expected = `a whole number from ${String(least)} to ${String(most)}`;
  throw invalidQuery(`${name} is ${JSON.stringify(text)}, expected ${expected}`);
}

export function invalidQuery(error: string): RefusedQuery {
  return new RefusedQuery(refusedWith(400, 'invalid_request', error));
}
