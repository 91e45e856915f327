import { setImmediate } from 'node:timers/promises';
import type { AckDecision } from '../../../streams';
import type { LoadResult } from '../load-result';
import type { Method, Node } from './messages';
import type { NackBackoff } from './nack-backoff';
import type { Response } from './read-response';
import type { LoadState } from './nack';

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
