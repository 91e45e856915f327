import type { BudgetFields } from '../../../core/explain/explanation';
import { failure, type Failure } from '../../../core/errors';
import type { LimitSource } from '../../../core/explain/explanation';
import type { DecisionRequest } from '../../../core/model';
import { until, type Steps } from '../../../core/steps';
import { isMap } from '../../../fields/record';
import { toRefusal } from '../../responses';
import {
  refusedWith,
  type AdminAnswer,
  type AdminEndpoint,
  type AdminRequest,
} from './admin-router';

/** One counter, or a descriptor that has none. */
export interface ShownCounter extends Partial<BudgetFields> {
  readonly entries: readonly string[];
  /** Null where no limit applies. */
  readonly key: string | null;
  readonly store?: string | undefined;
  readonly limitsFrom?: LimitSource;
  readonly count?: number | undefined;
  /** Undefined: the counter is missing, or its store does not report it. */
  readonly expiresInSeconds?: number | undefined;
  readonly error?: string | undefined;
}

export interface ShownReservation {
  readonly id: string;
  /** Reserved hits. */
  readonly hits: number;
  /** By the rule's current lease. */
  readonly ageSeconds: number;
  /** Until its lease expires. */
  readonly endsInSeconds: number;
}

/** A counter and its open reservations, the first to expire first; without the list where it could not be read. */
export interface ShownOpen extends ShownCounter {
  readonly reservations?: readonly ShownReservation[];
}

/** A change of counters, and its caller. */
export interface CounterChange {
  /** The hits to set the counters to; undefined: they are deleted. */
  readonly used: number | undefined;
  /** For a rule with several limits the one to set; undefined: all of them. */
  readonly limit: string | undefined;
  /** Open reservations end too, uncharged. */
  readonly open: boolean;
  /** Shows the current values, and changes nothing. */
  readonly dryRun: boolean;
  /** Also where other instances would not be notified. */
  readonly force: boolean;
  readonly peer: string;
  readonly tokenId: string | undefined;
}

export interface CounterAdmin {
  read(request: DecisionRequest): Promise<readonly ShownCounter[] | Failure>;
  /** The counter of the first descriptor with its open reservations, at most `most`. */
  open(request: DecisionRequest, most: number): Promise<ShownOpen | Failure>;
  /** Returns the values before the change. */
  change(
    request: DecisionRequest,
    change: CounterChange,
  ): Promise<readonly ShownCounter[] | Failure | 'not_published'>;
}

/** The parser of `/json`: returns a request, or the mistake in the text. */
export type ParseJsonRequest = (
  text: string,
) => DecisionRequest | { readonly kind: string; readonly message: string; readonly where: string };

const MAX_DESCRIPTORS = 20;
const COUNT_EXPECTED = `expected a whole number from 0 to ${String(Number.MAX_SAFE_INTEGER)}`;

/** `counters/read`, `counters/reset` and `counters/set`. */
export function counterEndpoints(
  admin: CounterAdmin,
  parse: ParseJsonRequest,
): readonly AdminEndpoint[] {
  const endpoint = (
    name: string,
    access: 'read' | 'write',
    handle: AdminEndpoint['handle'],
  ): AdminEndpoint => ({ method: 'POST', path: `/api/v1/counters/${name}`, access, handle });

  function* change(
    { body, text, peer, tokenId }: AdminRequest,
    fields: readonly string[],
  ): Steps<AdminAnswer> {
    const read = yield* readBody({ body, text }, fields, parse);
    if ('status' in read) return read;
    const { request, options } = read;
    const fault = faultOf(request, body, options, fields);
    if (fault !== undefined) return refusedWith(400, 'invalid_request', fault);
    const asked: CounterChange = {
      used: options['used'] as number | undefined,
      limit: options['limit'] as string | undefined,
      open: options['open'] === true,
      dryRun: options['dryRun'] === true,
      force: options['force'] === true,
      peer,
      tokenId,
    };
    const answer = yield* until(admin.change(request, asked));
    if (answer !== 'not_published') return asked.dryRun ? toAnswer(answer) : toChanged(answer);
    const error =
      'the change cannot be published to the other instances, whose local caches would refuse until the window ends; send "force": true to change the counters anyway';
    return refusedWith(409, 'not_published', error);
  }

  return [
    endpoint('read', 'read', function* (given) {
      const read = yield* readBody(given, [], parse);
      return 'status' in read ? read : toAnswer(yield* until(admin.read(read.request)));
    }),
    endpoint('reset', 'write', (request) => change(request, ['dryRun', 'force', 'open'])),
    endpoint('set', 'write', (request) => change(request, ['dryRun', 'force', 'used', 'limit'])),
  ];
}

function toAnswer(counters: readonly ShownCounter[] | Failure): AdminAnswer {
  return 'kind' in counters ? toRefusal(counters) : { status: 200, body: { counters } };
}

/** A change that was not made is a failure of the call, even if it changed other counters. */
function toChanged(counters: readonly ShownCounter[] | Failure): AdminAnswer {
  if ('kind' in counters) return toRefusal(counters);
  const failed = counters.filter(({ error }) => error !== undefined).length;
  if (failed === 0) return toAnswer(counters);
  const error = `${String(failed)} of ${String(counters.length)} counters may be unchanged: see the error of each`;
  return { status: 503, body: { error, code: 'store_unavailable', counters } };
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads a RateLimitRequest, by the parser of `/json`, and the call's own fields beside it. */
function* readBody(
  { body, text }: Pick<AdminRequest, 'body' | 'text'>,
  names: readonly string[],
  parse: ParseJsonRequest,
): Steps<{ readonly request: DecisionRequest; readonly options: Fields } | AdminAnswer> {
  const repeated = findRepeatedField(text);
  if (repeated !== undefined)
    return refusedWith(
      400,
      'malformed',
      `the body has the field ${JSON.stringify(repeated.slice(0, 64))} twice`,
    );
  yield;
  const fields = isMap(body) ? Object.entries(body) : [];
  const options = fields.filter(([name]) => names.includes(name));
  const rest = fields.filter(([name]) => !names.includes(name));
  const request = parse(JSON.stringify(isMap(body) ? Object.fromEntries(rest) : body));
  if ('kind' in request) {
    const { message, where } = request;
    return { status: 400, body: { error: message, code: 'malformed', where } };
  }
  if (request.descriptors.length > MAX_DESCRIPTORS) {
    const error = `${String(request.descriptors.length)} descriptors, expected at most ${String(MAX_DESCRIPTORS)}`;
    return toRefusal(failure('invalid_request', error));
  }
  return { request, options: Object.fromEntries(options) };
}

/** Undefined: the change is valid. */
function faultOf(
  request: DecisionRequest,
  body: unknown,
  options: Fields,
  fields: readonly string[],
): string | undefined {
  for (const name of ['dryRun', 'force', 'open']) {
    const value = options[name] ?? false;
    if (typeof value !== 'boolean')
      return `${name} is ${JSON.stringify(value)}, expected true or false`;
  }
  const wrong = fields.includes('used') ? faultOfSet(options) : undefined;
  if (wrong !== undefined) return wrong;
  const without = entryWithoutValue(body);
  if (without === undefined) return undefined;
  return `the entry ${JSON.stringify(without)} of ${request.domain} has no value: give it one, counters are changed one by one and not for all values of a key`;
}

function faultOfSet({ used, limit }: Fields): string | undefined {
  if (!(Number.isSafeInteger(used) && (used as number) >= 0))
    return `used is ${used === undefined ? 'missing' : JSON.stringify(used)}, ${COUNT_EXPECTED}`;
  return limit === undefined || typeof limit === 'string'
    ? undefined
    : `limit is ${JSON.stringify(limit)}, expected the name of a limit`;
}

/** The key of an entry without a value: an explicit empty one is a value. */
function entryWithoutValue(body: unknown): string | undefined {
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
