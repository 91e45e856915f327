import { Observable } from 'rxjs';
import { failure } from '../core/errors';
import type { Question } from '../core/ports';

/** Hands on batches as they are: what one socket read brought is one emission. */
export interface QuestionBatches {
  /** One subscriber at a time. Completes with `close`. */
  readonly questions$: Observable<readonly Question[]>;
  /** The answers come to the askers; `draining` when nobody takes questions (any more). */
  readonly ask: (batch: readonly Question[]) => void;
  close(): void;
}

interface Taker {
  next(batch: readonly Question[]): void;
  complete(): void;
}

const DRAINING = failure('draining', 'the service is stopping and takes no more questions');

export function createQuestionBatches(): QuestionBatches {
  let subscriber: Taker | undefined;
  let closed = false;
  return {
    questions$: new Observable((next) => {
      if (subscriber !== undefined) {
        next.error(new Error('questions$ has a subscriber already'));
        return;
      }
      if (closed) {
        next.complete();
        return;
      }
      subscriber = next;
      return () => {
        subscriber = undefined;
      };
    }),
    ask(batch) {
      if (subscriber !== undefined) subscriber.next(batch);
      else for (const { asker, ticket } of batch) asker.answer(ticket, DRAINING);
    },
    close() {
      closed = true;
      subscriber?.complete();
    },
  };
}

/** Turns single questions into batches: the calls that arrive in one turn leave in one emission. */
export interface QuestionSource {
  /** One subscriber at a time. Completes with `close`. */
  readonly questions$: Observable<readonly Question[]>;
  /** The answer comes to the asker, `draining` when nobody takes questions (any more). */
  readonly ask: (question: Question) => void;
  /** Hands on what it holds; from now on every question is answered `draining`. */
  close(): void;
}

export function createQuestionSource(): QuestionSource {
  const batches = createQuestionBatches();
  let waiting: Question[] = [];
  let closed = false;

  const flush = () => {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    batches.ask(batch);
  };

  return {
    questions$: batches.questions$,
    ask(question) {
      if (closed) batches.ask([question]);
      else if (waiting.push(question) === 1) setImmediate(flush);
    },
    close() {
      flush();
      closed = true;
      batches.close();
    },
  };
}
