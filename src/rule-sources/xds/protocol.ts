import { setImmediate } from 'node:timers/promises';
import { type AckDecision, backoffDelay, type BackoffPolicy } from '../../../streams';
import type { LoadResult } from '../load-result';
import { type Method, type Node, RULES_TYPE_URL, type Status } from './messages';
import type { Response } from './read-response';
import { quote } from '../../fields/located';
import { countErrors, isError, problemText, WHOLE } from '../../fields/problem';

/** One of the two protocols of discovery, without its timing. */
export interface Protocol<In extends Response, R> {
  readonly method: Method;
  /** Throws when the bytes are not a response. */
  readonly read: (bytes: Uint8Array) => In;
  /** The first request on a new stream. */
  readonly initialRequest: () => object;
  readonly handle: (
    responses: readonly In[],
    signal: AbortSignal,
  ) => Promise<AckDecision<object, LoadResult<R>>>;
  /** Whether `next` makes an answer to `waiting` unnecessary. */
  readonly supersedes: (next: In, waiting: In) => boolean;
  /** Whether the response differs from the one refused last. */
  readonly isChanged: (response: In) => boolean;
}

export interface ProtocolDeps<R> {
  readonly node: Node;
  readonly load: LoadState<R>;
  readonly nackBackoff: NackBackoff;
}

export interface ResponseOutcome<R> {
  readonly load: LoadResult<R>;
  readonly answer: object;
  /** Undefined for an accepted response. */
  readonly nackDelayMs: number | undefined;
  /** Whether it was refused, and reported, before. */
  readonly isRepeat: boolean;
}

/** Responses handled per turn of the event loop where their handling does not wait. */
const HANDLED_OF_TURN = 32;

/** Handles them one after the other. */
export async function handleEach<In, R>(
  responses: readonly In[],
  handle: (response: In) => Promise<ResponseOutcome<R>>,
): Promise<readonly ResponseOutcome<R>[]> {
  const outcomes: ResponseOutcome<R>[] = [];
  for (const response of responses) {
    outcomes.push(await handle(response));
    if (outcomes.length % HANDLED_OF_TURN === 0) await setImmediate();
  }
  return outcomes;
}

/** Delays the answers only if every response repeats one that was refused before. */
export function toAckDecision<R>(
  outcomes: readonly ResponseOutcome<R>[],
): AckDecision<object, LoadResult<R>> {
  return {
    results: outcomes.filter(({ isRepeat }) => !isRepeat).map(({ load }) => load),
    answers: outcomes.map(({ answer }) => answer),
    nackDelayMs: Math.min(...outcomes.map(({ nackDelayMs = 0 }) => nackDelayMs)),
  };
}

/** Checks and compiles a complete state, given as a message with its resources in the field `resources`. Never rejects. */
export type LoadState<R> = (message: Uint8Array, signal: AbortSignal) => Promise<LoadResult<R>>;

/** INVALID_ARGUMENT. */
const CODE = 3;

/** A server may refuse messages above 4 MiB, and no operator reads that much. */
const MAX_TEXT = 1_000_000;

/** The mistakes of a load, one per line, for the `error_detail` of a NACK. */
export function toErrorDetail(load: Pick<LoadResult<unknown>, 'problems' | 'unlisted'>): Status {
  const lines: string[] = [];
  let length = 0;
  for (const line of load.problems.filter(isError).map(problemText)) {
    length += line.length + 1;
    if (length > MAX_TEXT) break;
    lines.push(line);
  }
  const left = countErrors(load) - lines.length;
  if (left > 0) lines.push(`and ${String(left)} more`);
  return { code: CODE, message: lines.join('\n') };
}

export function isOfRules({ typeUrl }: Response): boolean {
  return typeUrl === RULES_TYPE_URL;
}

/**
 * Equal for refused responses that count as the same: all of other types do, so that a server that sends one after the other is
 * slowed down.
 */
export function refusedContent(response: Response, contentOfRules: () => unknown): string {
  return isOfRules(response) ? JSON.stringify(contentOfRules()) : 'another type';
}

/** The result for a response of another type. */
export function refuseType({ typeUrl }: Response): LoadResult<never> {
  const message = `the management server sent resources of type ${quote(typeUrl)}; expected ${RULES_TYPE_URL}`;
  return {
    ok: false,
    problems: [{ severity: 'error', class: 'wrong-type', file: '', at: WHOLE, message }],
    durationMs: 0,
  };
}

interface NackBackoffDeps {
  readonly backoff: BackoffPolicy;
  readonly random: () => number;
}

export function createNackBackoff({ backoff, random }: NackBackoffDeps) {
  let refused: string | undefined;
  let repeats = 0;
  return {
    /** Whether this was refused last; the content is only computed if something was. */
    isRepeat: (content: () => string) => refused !== undefined && content() === refused,
    /** Notes a refusal and returns for how many milliseconds to delay its NACK: 0 the first time. */
    refuse(content: string) {
      if (content !== refused) {
        refused = content;
        repeats = 0;
        return 0;
      }
      repeats += 1;
      return Math.min(backoffDelay(backoff, repeats, random), backoff.maxMs);
    },
    accept() {
      refused = undefined;
    },
  };
}

/** Remembers the last refusal, so that a server that sends the same again and again is slowed down. */
type NackBackoff = ReturnType<typeof createNackBackoff>;
