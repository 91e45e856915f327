import type { PendingRequest } from '../core/ports';
import type { BatchContext } from './batch';

/** For each hit from `start` to `end` whether a lease answered it, without the store; undefined: none was. */
export function leasedHits(
  { reply: { leased }, plan }: Pick<BatchContext, 'reply' | 'plan'>,
  start: number,
  end: number,
): readonly boolean[] | undefined {
  if (leased === undefined) return undefined;
  const hits: boolean[] = [];
  for (let i = start; i < end; i++)
    hits.push(leased[plan.descriptorHits[i]?.increment ?? -1] === true);
  return hits.includes(true) ? hits : undefined;
}

/** For each request the number of those hits; undefined: none in the batch. */
export function leasedCounts(
  pendingRequests: readonly PendingRequest[],
  batch: Pick<BatchContext, 'reply' | 'plan'>,
): readonly number[] | undefined {
  if (batch.reply.leased === undefined) return undefined;
  let start = 0;
  return pendingRequests.map(({ request }, i) => {
    // Invalid requests are not in the plan.
    if (batch.plan.faults[i] !== undefined) return 0;
    const end = start + request.descriptors.length;
    const hits = leasedHits(batch, start, end) ?? [];
    start = end;
    return hits.filter(Boolean).length;
  });
}
