import type { LimitVerdict } from '../../identity/limits/decisions';
import { monotonicMs } from '../../platform/clock';

export interface WaitingRequest {
  resolve(verdict: LimitVerdict): void;
  reject(error: Error): void;
}

/** Questions without an answer yet. All wait equally long, so one timer on the oldest does for all. */
export function createWaitingRequests(timeoutMs: number) {
  const waiting = new Map<number, { readonly pending: WaitingRequest; readonly sinceMs: number }>();
  let lastCallId = 0;
  let isTimed = false;

  const look = (): void => {
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
    setTimeout(look, Math.ceil(milliseconds)).unref();
  };

  return {
    /** Its call id. */
    put(pending: WaitingRequest) {
      const callId = ++lastCallId;
      waiting.set(callId, { pending, sinceMs: monotonicMs() });
      if (!isTimed) lookIn(timeoutMs);
      return callId;
    },
    /** Undefined: it has waited too long and was rejected. */
    take(callId: number): WaitingRequest | undefined {
      const found = waiting.get(callId);
      waiting.delete(callId);
      return found?.pending;
    },
  };
}
