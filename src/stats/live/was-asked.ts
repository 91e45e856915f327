import { StoreError } from '../../core/errors';
import type { CounterBatch, CounterReply } from '../../core/ports';

/** Whether a batch got as far as the store: circuit breakers refuse some, the local cache answers others. */
export function wasAsked({ increments }: CounterBatch, reply: unknown): boolean {
  if (reply instanceof Error) return !isRefusal(reply);
  const { known, failures } = reply as CounterReply;
  if (known === undefined && failures === undefined) return true;
  return increments.some((_, i) => known?.[i] !== true && !isRefusal(failures?.get(i)));
}

function isRefusal(error: Error | undefined): boolean {
  return error instanceof StoreError && error.fault === 'breaker';
}
