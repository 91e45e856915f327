import type { LimitVerdict } from '../../identity/limits/decisions';
import { monotonicMs } from '../../platform/clock';

export interface WaitingRequest {
  resolve(verdict: LimitVerdict): void;
  reject(error: Error): void;
}

/** Pending requests. All have the same time-out, so one timer for the oldest suffices. */
export function createWaitingRequests(timeoutMs: number) {
  const waiting = new Map<number, { readonly pending: WaitingRequest; readonly sinceMs: number }>();
  let lastCallId = 0;
  let isTimed = false;

  const check = (): void => {
    isTimed = false;
    for (const [callId, { pending, sinceMs }] of waiting) {
      const leftMs = sinceMs + timeoutMs - monotonicMs();
      if (leftMs > 0) {
        lookIn(leftMs);
        return;
      }
      waiting.delete(callId);
      pending.reject(new Error(`no decision within ${String(timeoutMs)} ms`));
    }
  };
  const lookIn = (milliseconds: number): void => {
    isTimed = true;
    setTimeout(check, Math.ceil(milliseconds)).unref();
  };

  return {
    /** Returns its call id. */
    put(pending: WaitingRequest) {
      const callId = ++lastCallId;
      waiting.set(callId, { pending, sinceMs: monotonicMs() });
      if (!isTimed) lookIn(timeoutMs);
      return callId;
    },
    /** Undefined: it has timed out and was rejected. */
    take(callId: number): WaitingRequest | undefined {
      const found = waiting.get(callId);
      waiting.delete(callId);
      return found?.pending;
    },
  };
}
