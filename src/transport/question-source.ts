import type { Observable } from 'rxjs';
import type { Question } from '../core/ports';
import { createQuestionBatches } from './question-batches';

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
