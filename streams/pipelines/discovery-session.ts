import {
  catchError,
  concat,
  connect,
  defer,
  endWith,
  filter,
  from,
  ignoreElements,
  map,
  mergeMap,
  of,
  repeat,
  takeUntil,
  tap,
  timer,
  EMPTY,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { backoffDelay, type BackoffPolicy } from '../backoff';
import { exhaustLatest } from '../operators/exhaust-latest';
import { fromDuplex, type OpenDuplex, type Received } from '../sources/from-duplex';

/** What became of some messages. */
export interface Judgement<Out, R> {
  /** Emitted at once, before anything is answered. */
  readonly results: readonly R[];
  /** One for each message, in their order. */
  readonly answers: readonly Out[];
  /** Milliseconds to hold the answers back; dropped when news come meanwhile. */
  readonly holdMs: number;
}

export interface LostSession {
  readonly reason: unknown;
  /** Lost or failed connections in a row without a good message. */
  readonly failures: number;
  readonly nextAttemptMs: number;
}

export interface DiscoverySession<In, Out, R> {
  readonly open: OpenDuplex<In, Out>;
  /** The first message on each new stream, with what is known by then. */
  readonly hello: () => Out;
  /** Takes up all messages that wait; never errors. */
  readonly judge: (messages: readonly In[]) => ObservableInput<Judgement<Out, R>>;
  /** Whether a message that waits need not be taken up, nor answered, now that this one has come. */
  readonly supersedes: (next: In, waiting: In) => boolean;
  /** Whether a message ends the hold of answers. */
  readonly isNews: (message: In) => boolean;
  /** Whether a message shows that the other side is well: the backoff starts anew. */
  readonly isGood: (message: In) => boolean;
  /** Milliseconds between attempts until the first good message of all. */
  readonly firstRetryMs: number;
  /** After that. No wait is longer than `maxMs`, jitter included. */
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onLost: (lost: LostSession) => void;
}

/**
 * Follows a server that pushes state and wants every push judged: connect, hello, then judge and answer in
 * turns, and again after a loss. What had arrived before a loss is still judged, before the next hello.
 * Never completes and never errors.
 */
export function discoverySession<In, Out, R>(session: DiscoverySession<In, Out, R>): Observable<R> {
  const { open, hello, isGood } = session;
  return defer(() => {
    const attempts = createAttempts(session);
    return fromDuplex(open, hello).pipe(
      tap(({ message }) => {
        if (isGood(message)) attempts.succeeded();
      }),
      catchError((reason: unknown) => {
        attempts.lost(reason);
        return EMPTY;
      }),
      connect((received$) => inTurns(received$, session)),
      repeat({ delay: () => timer(attempts.nextMs) }),
    );
  });
}

type Reconnecting = Pick<
  DiscoverySession<never, never, never>,
  'firstRetryMs' | 'backoff' | 'random' | 'onLost'
>;

/** Counts failures in a row and says how long to wait after each. */
function createAttempts({ firstRetryMs, backoff, random, onLost }: Reconnecting) {
  let failures = 0;
  let everSucceeded = false;
  let nextMs = 0;
  return {
    succeeded() {
      failures = 0;
      everSucceeded = true;
    },
    lost(reason: unknown) {
      failures += 1;
      nextMs = everSucceeded
        ? Math.min(backoffDelay(backoff, failures, random), backoff.maxMs)
        : firstRetryMs;
      onLost({ reason, failures, nextAttemptMs: nextMs });
    },
    get nextMs() {
      return nextMs;
    },
  };
}

type Turns<In, Out, R> = Pick<DiscoverySession<In, Out, R>, 'judge' | 'supersedes' | 'isNews'>;

/** One judgement at a time; what arrives meanwhile waits, or goes when it is superseded. */
function inTurns<In, Out, R>(
  received$: Observable<Received<In, Out>>,
  { judge, supersedes, isNews }: Turns<In, Out, R>,
): Observable<R> {
  let waiting: readonly Received<In, Out>[] = [];
  const newsOrLoss$ = defer(() => concat(waiting, received$)).pipe(
    filter(({ message }) => isNews(message)),
    endWith(undefined),
  );
  return received$.pipe(
    map((next) => {
      waiting = [...waiting.filter(({ message }) => !supersedes(next.message, message)), next];
    }),
    exhaustLatest(() => {
      const turn = waiting;
      waiting = [];
      return from(judge(turn.map(({ message }) => message))).pipe(
        mergeMap((judgement) => conclude(turn, judgement, newsOrLoss$)),
      );
    }),
  );
}

/** Emits the results, then answers, unless `endHold$` comes first. */
function conclude<In, Out, R>(
  turn: readonly Received<In, Out>[],
  { results, answers, holdMs }: Judgement<Out, R>,
  endHold$: Observable<unknown>,
): Observable<R> {
  const ready$ = holdMs === 0 ? of(0) : timer(holdMs).pipe(takeUntil(endHold$));
  const answered$ = ready$.pipe(
    tap(() => {
      for (const [index, answer] of answers.entries()) turn[index]?.reply(answer);
    }),
    ignoreElements(),
  );
  return concat(results, answered$);
}
