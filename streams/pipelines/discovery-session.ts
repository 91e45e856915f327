import {
  catchError,
  concat,
  concatAll,
  concatMap,
  connect,
  defer,
  endWith,
  filter,
  from,
  ignoreElements,
  map,
  mergeMap,
  of,
  range,
  repeat,
  takeUntil,
  tap,
  timer,
  EMPTY,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { backoffDelay, type BackoffPolicy } from '../backoff';
import { exhaustLatest } from '../operators/one-at-a-time';
import { fromDuplex, type OpenDuplex, type Received } from '../sources';

/** The results of some messages, and their answers. */
export interface AckDecision<Out, R> {
  /** Emitted before any answer. */
  readonly results: readonly R[];
  /** One for each message, in their order. */
  readonly answers: readonly Out[];
  /** Milliseconds to delay the answers; a changed message ends the delay. */
  readonly nackDelayMs: number;
}

export interface Disconnected {
  readonly reason: unknown;
  /** Lost or failed connections in a row without a good message. */
  readonly failures: number;
  readonly nextAttemptMs: number;
}

export interface DiscoverySession<In, Out, R> {
  readonly open: OpenDuplex<In, Out>;
  /** The first message on each new stream, from what is known by then. */
  readonly initialRequest: () => Out;
  /** Handles all pending messages at once; never errors. */
  readonly handle: (messages: readonly In[]) => ObservableInput<AckDecision<Out, R>>;
  /** Whether `next` makes handling and answering the `waiting` message unnecessary. */
  readonly supersedes: (next: In, waiting: In) => boolean;
  /** Whether a message ends the delay of answers. */
  readonly isChanged: (message: In) => boolean;
  /** Whether a message shows that the other side is well: it resets the backoff. */
  readonly isGood: (message: In) => boolean;
  /** Milliseconds between attempts until the very first good message. */
  readonly firstRetryMs: number;
  /** Used after that. No wait is longer than `maxMs`, jitter included. */
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onLost: (lost: Disconnected) => void;
}

/** Pending messages: a server that sends more before it is answered is disconnected, then retried. */
const MAX_WAITING = 1_000;

/** Results, or answers, per turn of the event loop. */
const PIECE = 32;

/**
 * Follows a server that pushes state and expects an answer to every push: connects, sends the initial request, then handles and
 * answers by turns, and reconnects after a loss. Messages that had arrived before a loss are handled before the next initial
 * request. Never completes and never errors.
 */
export function discoverySession<In, Out, R>(session: DiscoverySession<In, Out, R>): Observable<R> {
  const { open, initialRequest, isGood } = session;
  return defer(() => {
    const attempts = createAttempts(session);
    const inbox = createInbox<In, Out>(session.supersedes);
    return fromDuplex(open, initialRequest).pipe(
      tap(({ message }) => {
        if (isGood(message)) attempts.succeeded();
      }),
      tap(inbox.add),
      catchError((reason: unknown) => {
        attempts.lost(reason);
        return EMPTY;
      }),
      connect((received$) => inTurns(received$, inbox, session)),
      repeat({ delay: () => timer(attempts.nextMs) }),
    );
  });
}

type Reconnecting = Pick<
  DiscoverySession<never, never, never>,
  'firstRetryMs' | 'backoff' | 'random' | 'onLost'
>;

/** Counts failures in a row and returns the wait after each. */
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

function createInbox<In, Out>(supersedes: (next: In, waiting: In) => boolean) {
  let waiting: readonly Received<In, Out>[] = [];
  return {
    waiting: () => waiting,
    /** Drops messages that the next one supersedes; throws where too many are pending. */
    add: (next: Received<In, Out>) => {
      const kept = waiting.filter(({ message }) => !supersedes(next.message, message));
      if (kept.length >= MAX_WAITING)
        throw new Error(`the server sent ${String(MAX_WAITING)} messages that wait to be handled`);
      waiting = [...kept, next];
    },
    takeAll(): readonly Received<In, Out>[] {
      const all = waiting;
      waiting = [];
      return all;
    },
  };
}

/** Pending messages. */
export type Inbox<In, Out> = ReturnType<typeof createInbox<In, Out>>;

type Turns<In, Out, R> = Pick<DiscoverySession<In, Out, R>, 'handle' | 'isChanged'>;

/** Handles one turn at a time; messages that arrive meanwhile wait. */
function inTurns<In, Out, R>(
  received$: Observable<Received<In, Out>>,
  inbox: Inbox<In, Out>,
  { handle, isChanged }: Turns<In, Out, R>,
): Observable<R> {
  const changeOrLoss$ = defer(() => concat(inbox.waiting(), received$)).pipe(
    filter(({ message }) => isChanged(message)),
    endWith(undefined),
  );
  return received$.pipe(
    exhaustLatest(() => {
      const turn = inbox.takeAll();
      return from(handle(turn.map(({ message }) => message))).pipe(
        mergeMap((decision) => conclude(turn, decision, changeOrLoss$)),
      );
    }),
  );
}

/** Emits the results, then the answers after their delay, or earlier once `endDelay$` emits. */
function conclude<In, Out, R>(
  turn: readonly Received<In, Out>[],
  { results, answers, nackDelayMs }: AckDecision<Out, R>,
  endDelay$: Observable<unknown>,
): Observable<R> {
  const ready$ = nackDelayMs === 0 ? of(0) : timer(nackDelayMs).pipe(takeUntil(endDelay$));
  const answered$ = ready$.pipe(
    mergeMap(() => inPieces(answers.map((answer, index) => ({ answer, index })))),
    tap((piece) => {
      for (const { answer, index } of piece) turn[index]?.reply(answer);
    }),
    ignoreElements(),
  );
  return concat(inPieces(results).pipe(concatAll()), answered$);
}

/** The first piece at once, each further one in its own turn of the event loop. */
function inPieces<T>(all: readonly T[]): Observable<readonly T[]> {
  return range(0, Math.ceil(all.length / PIECE)).pipe(
    concatMap((piece) => (piece === 0 ? of(piece) : timer(0).pipe(map(() => piece)))),
    map((piece) => all.slice(piece * PIECE, (piece + 1) * PIECE)),
  );
}
