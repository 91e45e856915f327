import type { Judgement } from '../../../streams';
import type { LoadResult } from '../load-result';
import type { Method, Node } from './messages';
import type { NackBackoff } from './nack-backoff';
import type { Response } from './read-response';
import type { LoadState } from './nack';

/** One of the two protocols of discovery, as far as it is not a matter of time. */
export interface Protocol<In extends Response, R> {
  readonly method: Method;
  /** Throws when the bytes are not a response. */
  readonly read: (bytes: Uint8Array) => In;
  /** The first request on a new stream. */
  readonly hello: () => object;
  readonly judge: (
    responses: readonly In[],
    signal: AbortSignal,
  ) => Promise<Judgement<object, LoadResult<R>>>;
  /** Whether `waiting` needs no answer of its own any more. */
  readonly supersedes: (next: In, waiting: In) => boolean;
  /** Whether this is something else than what was refused last. */
  readonly isNews: (response: In) => boolean;
}

export interface ProtocolDeps<R> {
  readonly node: Node;
  readonly load: LoadState<R>;
  readonly nackBackoff: NackBackoff;
}

/** What one response came to. */
export interface Outcome<R> {
  readonly load: LoadResult<R>;
  readonly answer: object;
  /** Undefined for what was accepted. */
  readonly holdMs: number | undefined;
  /** Whether it was refused before, and told before. */
  readonly isRepeat: boolean;
}

/** Answers are held back only when all of them refuse something once more. */
export function toJudgement<R>(outcomes: readonly Outcome<R>[]): Judgement<object, LoadResult<R>> {
  return {
    results: outcomes.filter(({ isRepeat }) => !isRepeat).map(({ load }) => load),
    answers: outcomes.map(({ answer }) => answer),
    holdMs: Math.min(...outcomes.map(({ holdMs = 0 }) => holdMs)),
  };
}
