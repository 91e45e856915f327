import type { DecisionRequest } from '../../../core/model';
import type { Steps } from '../../../core/steps';
import { isMap } from '../../../fields/record';
import {
  ADMIN_PREFIX,
  refusedWith,
  type AdminAnswer,
  type AdminEndpoint,
  type AdminRequest,
} from './admin-router';

/** One field of a call, in the query of a GET or beside the request in the body of a POST. */
interface CallField<T> {
  /** Completes "expected …". */
  readonly expected: string;
  /** The value of a text of the query or of JSON, undefined where it was not given; null: it is wrong. */
  parse(given: unknown): T | null;
}

type CallFields = Readonly<Record<string, CallField<unknown>>>;

type FieldValues<F extends CallFields> = {
  readonly [K in keyof F]: F[K] extends CallField<infer V> ? V : never;
};

/** A whole number in a query. */
export function numberIn(least: number, most: number, otherwise: number): CallField<number> {
  return {
    expected: `a whole number from ${String(least)} to ${String(most)}`,
    parse(given = otherwise) {
      const number = given === '' ? NaN : Number(given);
      return Number.isInteger(number) && number >= least && number <= most ? number : null;
    },
  };
}

/** One of two words in a query; the first unless it says another one. */
export function eitherOf<const T extends string>(first: T, second: T): CallField<T> {
  return {
    expected: `${first} or ${second}`,
    parse: (given = first) => [first, second].find((word) => word === given) ?? null,
  };
}

/** Whether to do so; without it, and by null, no. */
export const flag: CallField<boolean> = {
  expected: 'true or false',
  parse: (given) => (typeof (given ?? false) === 'boolean' ? given === true : null),
};

/** A number of hits, which is needed. */
export const hits: CallField<number> = {
  expected: `a whole number from 0 to ${String(Number.MAX_SAFE_INTEGER)}`,
  parse: (given) => (Number.isSafeInteger(given) && Number(given) >= 0 ? Number(given) : null),
};

export const limitName: CallField<string | undefined> = {
  expected: 'the name of a limit',
  parse: (given) => (given === undefined || typeof given === 'string' ? given : null),
};

/** The values of all fields, or the first mistake in the order of the table. */
function readFields<F extends CallFields>(
  fields: F,
  read: (name: string) => unknown,
): FieldValues<F> | string {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const given = read(name);
    values[name] = field.parse(given);
    const shown = given === undefined ? 'missing' : JSON.stringify(given);
    if (values[name] === null) return `${name} is ${shown}, expected ${field.expected}`;
  }
  return values as FieldValues<F>;
}

export function invalidRequest(error: string): AdminAnswer {
  return refusedWith(400, 'invalid_request', error);
}

/** A GET with these fields in its query. */
export function get<F extends CallFields>(
  name: string,
  fields: F,
  answer: (values: FieldValues<F>, query: URLSearchParams) => Steps<AdminAnswer> | AdminAnswer,
): AdminEndpoint {
  return {
    method: 'GET',
    path: `${ADMIN_PREFIX}${name}`,
    access: 'read',
    *handle({ query }) {
      const values = readFields(fields, (field) => query.get(field) ?? undefined);
      if (typeof values === 'string') return invalidRequest(values);
      const answered = answer(values, query);
      return 'status' in answered ? answered : yield* answered;
    },
  };
}

/** The parser of `/json`: returns a request, or the mistake in the text. */
export type ParseJsonRequest = (
  text: string,
) => DecisionRequest | { readonly kind: string; readonly message: string; readonly where: string };

const MAX_DESCRIPTORS = 20;

/** A POST of a RateLimitRequest, read by the parser of `/json`, with these fields beside it. One that writes names every value. */
export function post<F extends CallFields>(
  name: string,
  access: 'read' | 'write',
  fields: F,
  parse: ParseJsonRequest,
  answer: (
    request: DecisionRequest,
    values: FieldValues<F>,
    caller: Pick<AdminRequest, 'peer' | 'tokenId'>,
  ) => Steps<AdminAnswer>,
): AdminEndpoint {
  return {
    method: 'POST',
    path: `${ADMIN_PREFIX}${name}`,
    access,
    *handle({ body, text, peer, tokenId }) {
      const repeated = findRepeatedField(text);
      if (repeated !== undefined) {
        const shown = JSON.stringify(repeated.slice(0, 64));
        return refusedWith(400, 'malformed', `the body has the field ${shown} twice`);
      }
      yield;
      const given = isMap(body) ? body : {};
      const rest = Object.entries(given).filter(([field]) => !Object.hasOwn(fields, field));
      const request = parse(JSON.stringify(isMap(body) ? Object.fromEntries(rest) : body));
      if ('kind' in request) {
        const { message: error, where } = request;
        return { status: 400, body: { error, code: 'malformed', where } };
      }
      const { length } = request.descriptors;
      if (length > MAX_DESCRIPTORS)
        return invalidRequest(
          `${String(length)} descriptors, expected at most ${String(MAX_DESCRIPTORS)}`,
        );
      const values = readFields(fields, (field) => given[field]);
      if (typeof values === 'string') return invalidRequest(values);
      const key = access === 'write' ? keyWithoutValue(body) : undefined;
      if (key !== undefined)
        return invalidRequest(
          `the entry ${JSON.stringify(key)} of ${request.domain} has no value: give it one, counters are changed one by one and not for all values of a key`,
        );
      return yield* answer(request, values, { peer, tokenId });
    },
  };
}

/** The key of an entry without a value: an explicit empty one is a value. */
function keyWithoutValue(body: unknown): string | undefined {
  const descriptors = listOf(body, 'descriptors');
  const entries = descriptors.flatMap((descriptor) => listOf(descriptor, 'entries'));
  const without = entries.find((entry) => isMap(entry) && typeof entry['value'] !== 'string');
  return isMap(without) ? String(without['key']) : undefined;
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = isMap(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}

/** A string, or a token that opens or closes an object or a list, or a comma. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/**
 * The first name that occurs twice in an object of this JSON text, in either of its spellings (`hitsAddend`, `hits_addend`).
 * `JSON.parse` silently keeps only the last one.
 */
function findRepeatedField(text: string): string | undefined {
  const open: Open = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (isName && token.startsWith('"')) {
      const name = toCamelCase(JSON.parse(token) as string);
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    follow(open, token);
    isName = '{,'.includes(token) && open.at(-1) !== undefined;
  }
  return undefined;
}

/** For each open object its names so far; undefined for a list. */
type Open = (Set<string> | undefined)[];

function follow(open: Open, token: string): void {
  if (token === '{') open.push(new Set());
  else if (token === '[') open.push(undefined);
  else if (token === '}' || token === ']') open.pop();
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
