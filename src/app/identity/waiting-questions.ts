import type { LimitVerdict } from '../../identity/limits/decisions';
import { monotonicMs } from '../../platform/clock';

export interface WaitingQuestion {
  resolve(verdict: LimitVerdict): void;
  reject(error: Error): void;
}

/** Questions without an answer yet. All wait equally long, so one timer on the oldest does for all. */
export interface WaitingQuestions {
  /** Its ticket. */
  put(question: WaitingQuestion): number;
  /** Undefined: it has waited too long and was rejected. */
  take(ticket: number): WaitingQuestion | undefined;
}

export function createWaitingQuestions(timeoutMs: number): WaitingQuestions {
  const waiting = new Map<
    number,
    { readonly question: WaitingQuestion; readonly sinceMs: number }
  >();
  let lastTicket = 0;
  let isTimed = false;

  const look = (): void => {
    isTimed = false;
    for (const [ticket, { question, sinceMs }] of waiting) {
      const leftMs = sinceMs + timeoutMs - monotonicMs();
      if (leftMs > 0) {
        lookIn(leftMs);
        return;
      }
      waiting.delete(ticket);
      question.reject(new Error(`no decision within ${String(timeoutMs)} ms`));
    }
  };
  const lookIn = (milliseconds: number): void => {
    isTimed = true;
    setTimeout(look, Math.ceil(milliseconds)).unref();
  };

  return {
    put(question) {
      const ticket = ++lastTicket;
      waiting.set(ticket, { question, sinceMs: monotonicMs() });
      if (!isTimed) lookIn(timeoutMs);
      return ticket;
    },
    take(ticket) {
      const found = waiting.get(ticket);
      waiting.delete(ticket);
      return found?.question;
    },
  };
}
