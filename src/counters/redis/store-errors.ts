import { StoreError } from '../../core/errors';
import { shorten, toReason } from '../../platform/errors';

/** A batch that was written and not answered: it may have been counted or not. */
export class UnknownOutcome extends StoreError {}

/** The answer of INCRBY where a value is not a count. */
export const NO_INTEGER = 'ERR value is not an integer or out of range';

/** The prefix of our scripts for an error after INCRBY: the hits are counted. */
export const COUNTED = 'COUNTED ';

/** The prefix of servers before Redis 7 for an error inside a script. */
const PLACE_IN_SCRIPT = /^@user_script: ?\d+: -?/;

/** An error that a script returned as a text, in the words of the server. */
export function withoutPlace(text: string): string {
  return text.replace(PLACE_IN_SCRIPT, '').trimEnd();
}

/** The user may not use the key, in the words of different servers, inside scripts too. */
const KEY_FORBIDDEN =
  /^NOPERM\b.*\bkeys?\b|^ERR .*\baccess\b.*\bkeys?\b.*|^ERR ACL failure .*\bkeys?\b/i;

/** Answers about one counter: a caller must not pass its limit by provoking them. */
const KEY_AT_FAULT = /^WRONGTYPE\b|not an integer|would overflow/;

/** The server's answer instead of a count; `answer` is its own words, shortened. */
export class AnswerError extends StoreError {
  readonly store: string;
  readonly answer: string;
  constructor(store: string, answer: string) {
    const isOfKey = KEY_AT_FAULT.test(answer) || KEY_FORBIDDEN.test(answer);
    const fault = isOfKey ? 'key' : 'answer';
    super('store_unavailable', `redis ${store} answered: ${answer}`, { fault });
    this.store = store;
    this.answer = answer;
  }
}

/** Answers that show that this server is the wrong one: it changed its role or is not ready. */
const WRONG_SERVER = /^(?:READONLY|LOADING|MASTERDOWN|NOAUTH)\b/;

/** Answers to EVALSHA after which nothing was executed, because we may not use scripts here. */
const SCRIPTS_REFUSED =
  /^(?:(?:ERR )?(?:unknown|unsupported|invalid) (?:command|request)|NOPERM|CROSSSLOT)/i;

/** Answers to EVAL without keys, which executes nothing, from servers that cannot or may not run it. Other errors may be temporary. */
const LACK_OF_SCRIPTS =
  /^(?:NOPERM|CROSSSLOT)\b|^(?:ERR |(?=[a-z])).*?(?:\b(?:[Uu]nknown|[Uu]nsupported|disabled|invalid) (?:command|request)\b|\bnot (?:be )?(?:support|allow|permit|implement)|\bnumber of (?:arguments|keys)\b)/;

/** Answers inside a script: it may not use keys of several slots, or keys it did not declare. */
const KEYS_REFUSED = /hash to the same slot|CROSSSLOT|undeclared key/i;

export function isWrongServer(answer: string): boolean {
  return WRONG_SERVER.test(answer);
}

export function isScriptsRefused(answer: string): boolean {
  return SCRIPTS_REFUSED.test(answer);
}

export function isLackOfScripts(answer: string): boolean {
  return LACK_OF_SCRIPTS.test(answer);
}

export function isKeysRefused(answer: string): boolean {
  return KEYS_REFUSED.test(answer);
}

/** The user may not send the command, whatever the key. */
export function isCommandForbidden(answer: string): boolean {
  return /^NOPERM .*\bcommand\b/.test(answer);
}

/** Among these refusals, one concerns the keys of a batch instead of scripts as such. */
export function isAboutKeys(answer: string): boolean {
  return /^NOPERM .*\bkeys?\b/i.test(answer);
}

/** Answers of proxies whose Redis is unreachable or did not answer in time: Envoy in its own words, twemproxy in those of the system. */
const REDIS_AWAY =
  /^(?:upstream (?:failure|protocol error)|no upstream host|ERR (?:Connection (?:refused|timed out|reset by peer)|No route to host|Network is unreachable|Broken pipe))$/;

/** A proxy answers in place of its Redis. */
export function isRedisAway(answer: string): boolean {
  return REDIS_AWAY.test(answer);
}

/** The server's answer as an error of ours; the command and its arguments are left out. */
export function toAnswerError(store: string, answer: string): StoreError {
  if (!isRedisAway(answer)) return new AnswerError(store, shorten(answer));
  const message = `the proxy ${store} has no answer of its Redis, hits may or may not be counted: ${answer}`;
  return new UnknownOutcome('store_unavailable', message);
}

export function toTimeoutError(store: string, timeoutMs: number): StoreError {
  const message = `redis ${store} did not answer within ${String(timeoutMs)} ms`;
  return new UnknownOutcome('store_timeout', message);
}

export function toNeverSentError(store: string, timeoutMs: number): StoreError {
  const message = `redis ${store} could not be called within ${String(timeoutMs)} ms`;
  return new StoreError('store_timeout', message);
}

export function toLostError(store: string, reason: string): StoreError {
  const message = `the connection to redis ${store} was lost, hits without an answer may or may not be counted: ${reason}`;
  return new UnknownOutcome('store_unavailable', message);
}

/** Kinds that read first cannot be counted by plain commands. */
export function toNeedsScriptsError(store: string): StoreError {
  const message = `this rule needs scripts, and redis ${store} does not accept them`;
  const forCaller = 'this rule needs scripts, and the store does not accept them';
  return new StoreError('store_unavailable', message, { fault: 'answer', forCaller });
}

/** It answered something that none of our scripts does. */
export function toUnreadError(store: string, cause: unknown): StoreError {
  const message = `an answer of redis ${store} cannot be read, its hits may or may not be counted: ${toReason(cause)}`;
  return new UnknownOutcome('store_unavailable', message, { cause });
}

/**
 * INCRBY was applied, and the command that must follow was refused: EXPIRE, so that the counter never expires, or the one that
 * raises it to 0.
 */
export function toHalfDoneError(store: string, answer: string): UnknownOutcome {
  const message = `redis ${store} counted the hits and then answered: ${shorten(answer)}`;
  return new UnknownOutcome('store_unavailable', message, { fault: 'answer' });
}

/** The answer of INCRBY, and the command that is left to do. */
export interface HalfDoneWork {
  readonly count: number;
  readonly left: [name: string, ...args: string[]];
}

/** As above, where another node is to complete it. */
export class HalfDone extends StoreError {
  readonly work: HalfDoneWork;
  readonly redirect: AnswerError;
  constructor(redirect: AnswerError, work: HalfDoneWork) {
    super('store_unavailable', redirect.message, { fault: 'answer' });
    this.redirect = redirect;
    this.work = work;
  }
}

export function toHalfDone(refusal: AnswerError, work: HalfDoneWork): StoreError {
  const { answer, store } = refusal;
  return isRedirect(answer) ? new HalfDone(refusal, work) : toHalfDoneError(store, answer);
}

function isRedirect(answer: string): boolean {
  return /^(?:MOVED|ASK) /.test(answer);
}

/** The server answered for one counter something other than a count: an object or list is named by its kind. */
export function toNoCountError(store: string, answer: unknown): StoreError {
  const text = shorten(typeof answer === 'number' ? String(answer) : typeof answer);
  const message = `redis ${store} answered ${text}, expected a count from 0 to 2^63 - 1; the hits may or may not be counted`;
  return new UnknownOutcome('store_unavailable', message, { fault: 'answer' });
}

export function toUnavailableError(store: string, reason: string): StoreError {
  return new StoreError('store_unavailable', `redis ${store} is not available: ${reason}`);
}

/** No first connection was established. */
export function toGivenUpError(store: string, withinMs: number, reason: string): StoreError {
  const message = `redis ${store} could not be reached within ${String(withinMs)} ms: ${reason}`;
  return new StoreError('store_unavailable', message);
}
