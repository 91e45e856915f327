import { type CounterBatch, type CounterReply } from '../../core/ports';
import { failedReply, joinReplies } from '../reply-draft';
import { applyFixed } from './apply-fixed';
import { applyMixed, countAlgorithms } from './apply-mixed';
import { type RedisConnection } from './connection';
import { type Sending } from './sending';

/** Increments of one call: a script of this size blocks Redis for some 2 ms. */
const MAX_INCREMENTS_PER_CALL = 2_000;

/**
 * Applies a batch over a connection, by script where the server takes one. Increments that failed, even
 * all of them, are in the reply; rejects with a StoreError when the call failed as a whole.
 */
export async function applyBatch(
  connection: RedisConnection,
  batch: CounterBatch,
  sending: Sending = {},
): Promise<CounterReply> {
  const parts = splitBatch(batch, MAX_INCREMENTS_PER_CALL);
  if (parts.length === 1) return applyPart(connection, batch, sending);
  return joinReplies(await Promise.all(parts.map((part) => settlePart(connection, part, sending))));
}

function applyPart(
  connection: RedisConnection,
  part: CounterBatch,
  sending: Sending,
): Promise<CounterReply> {
  const algorithms = countAlgorithms(part.increments);
  if (algorithms === 0) return applyFixed(connection, part, sending);
  return applyMixed(connection, part, algorithms === part.increments.length, sending);
}

async function settlePart(
  connection: RedisConnection,
  part: CounterBatch,
  sending: Sending,
): Promise<CounterReply> {
  try {
    return await applyPart(connection, part, sending);
  } catch (error) {
    return failedReply(part.increments, connection.toError(error));
  }
}

/** Cuts a batch into parts of at most `size` increments; a request's run stays in one piece. */
export function splitBatch(batch: CounterBatch, size: number): readonly CounterBatch[] {
  const { increments, groupEnds, nowSeconds } = batch;
  if (increments.length <= size) return [batch];
  let run = 0;
  const takeRuns = (runs: readonly number[], start: number, end: number): readonly number[] => {
    const first = run;
    while (run < runs.length && (runs[run] as number) <= end) run += 1;
    return runs.slice(first, run).map((at) => at - start);
  };
  return partEnds(batch, size).map((end, part, ends) => {
    const start = ends[part - 1] ?? 0;
    return {
      increments: increments.slice(start, end),
      groupEnds: groupEnds && takeRuns(groupEnds, start, end),
      nowSeconds,
    };
  });
}

function partEnds({ increments, groupEnds }: CounterBatch, size: number): readonly number[] {
  const ends: number[] = [];
  if (groupEnds === undefined) {
    for (let end = size; end < increments.length; end += size) ends.push(end);
  } else {
    let start = 0;
    let last = 0;
    for (const end of groupEnds) {
      if (end - start > size && last > start) {
        ends.push(last);
        start = last;
      }
      last = end;
    }
  }
  ends.push(increments.length);
  return ends;
}
