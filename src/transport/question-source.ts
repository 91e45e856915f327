import { Observable } from 'rxjs';
import { failure } from '../core/errors';
import type { Question } from '../core/ports';

/** Turns single questions into batches: the calls that arrive in one turn leave in one emission. */
export interface QuestionSource {
  /** One subscriber at a time. Completes with `close`. */
  readonly questions$: Observable<readonly Question[]>;
  /** The answer comes to the asker, `draining` when nobody takes questions (any more). */
  readonly ask: (question: Question) => void;
  /** Hands on what it holds; from now on every question is answered `draining`. */
  close(): void;
}

interface Taker {
  next(batch: readonly Question[]): void;
  complete(): void;
}

const DRAINING = failure('draining', 'the service is stopping and takes no more questions');

export function createQuestionSource(): QuestionSource {
  let subscriber: Taker | undefined;
  let waiting: Question[] = [];
  let closed = false;

  const flush = () => {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    if (subscriber !== undefined) subscriber.next(batch);
    else for (const { asker, ticket } of batch) asker.answer(ticket, DRAINING);
  };

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
    ask(question) {
      if (closed) question.asker.answer(question.ticket, DRAINING);
      else if (waiting.push(question) === 1) setImmediate(flush);
    },
    close() {
      flush();
      closed = true;
      subscriber?.complete();
    },
  };
}
