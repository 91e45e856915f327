import type { BudgetOutcome } from '../core/budgets/outcome';
import type { RequestDescriptor } from '../core/model';
import type { DescriptorHit } from '../core/planning/plan';
import { readingOf, type CounterBatch, type Increment, type PendingRequest } from '../core/ports';
import type { BatchContext } from './batch';

/*
 * A caller that leaves before its answer sends no `settle`. Its request is dropped if it was not sent yet; a reservation that it
 * opened is closed without a charge (budgets.md section 4).
 */

const GONE = { kind: 'failure', code: 'draining', message: 'the caller went away' } as const;

/** Removes requests that would open a reservation for a departed caller from a batch, and answers them. */
export function withoutLeft(pendingRequests: readonly PendingRequest[]) {
  const staying = pendingRequests.filter(
    (pending) => !(hasLeft(pending) && pending.request.descriptors.some(mayReserve)),
  );
  if (staying.length === pendingRequests.length) return { staying: pendingRequests, left: 0 };
  const kept = new Set(staying);
  for (const pending of pendingRequests)
    if (!kept.has(pending)) pending.responder.answer(pending.callId, GONE);
  return { staying, left: pendingRequests.length - staying.length };
}

function hasLeft({ responder, callId }: PendingRequest): boolean {
  return responder.hasLeft?.(callId) === true;
}

function mayReserve({ entries }: RequestDescriptor): boolean {
  return entries.at(-1)?.key === 'reserve';
}

/** Increments that close the reservations of departed callers; undefined: there are none. */
export function cancelsOf(
  pendingRequests: readonly PendingRequest[],
  batch: BatchContext,
  nowSeconds: number,
): CounterBatch | undefined {
  const increments: Increment[] = [];
  let start = 0;
  for (const [at, pending] of pendingRequests.entries()) {
    if (batch.plan.faults[at] !== undefined) continue;
    const end = start + pending.request.descriptors.length;
    if (hasLeft(pending)) increments.push(...opened(batch, start, end));
    start = end;
  }
  return increments.length === 0 ? undefined : { increments, groupEnds: undefined, nowSeconds };
}

function opened(batch: BatchContext, start: number, end: number): readonly Increment[] {
  return batch.plan.descriptorHits.slice(start, end).flatMap((hit) => {
    const increment = batch.plan.increments[hit?.increment ?? -1];
    if (hit === undefined || increment?.reservation?.mode !== 'reserve') return [];
    if (!wasOpened(hit, increment, batch)) return [];
    return [{ ...increment, reservation: { ...increment.reservation, mode: 'cancel' as const } }];
  });
}

function wasOpened(hit: DescriptorHit, increment: Increment, batch: BatchContext): boolean {
  const { reply, outage, windows } = batch;
  const at = hit.increment;
  if (outage?.errorOf(at) !== undefined || reply.held?.[at] === true) return false;
  const reading = readingOf(increment, reply, at);
  const outcome = increment.limiter.kind.outcome(increment, reading, hit.hits, 0, windows.second);
  return (outcome as BudgetOutcome).reserved >= 0;
}
