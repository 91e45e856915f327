import {
  createReplyDraft,
  finish,
  toReply,
  deal,
  pick,
  scatter,
  type SubBatch,
} from '../../core/batches/reply-draft';
import { settled, type StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { addByPipeline } from './add-by-pipeline';
import { applyOperations, OF_BUDGETS, OF_KINDS } from './apply-operations';
import { type RedisConnection } from './connection';
import { type Sending } from './pipeline';
import { addByScript, scriptRefusal } from './add-by-script';
import { isAboutKeys } from './store-errors';

/** Increments per call: a script of this size blocks Redis for some 2 ms. */
const MAX_INCREMENTS_PER_CALL = 2_000;

/**
 * Applies a batch over a connection, by script where the server allows it; all calls leave in one write. Failed increments, even all
 * of them, are in the reply; rejects with a StoreError when the call failed as a whole.
 */
export function applyBatch(
  connection: RedisConnection,
  batch: CounterBatch,
  sending: Sending = {},
): Promise<CounterReply> {
  return batch.increments.length > MAX_INCREMENTS_PER_CALL
    ? applyInParts(connection, batch, sending)
    : applyPart(connection, batch, sending);
}

function applyPart(
  connection: RedisConnection,
  part: CounterBatch,
  sending: Sending,
): Promise<CounterReply> {
  switch (callFor(connection, part)) {
    case 'counts':
      return applyCounts(connection, part, sending);
    case 'kinds':
      return applyOperations(connection, part, sending, OF_KINDS);
    case 'budgets':
      return applyOperations(connection, part, sending, OF_BUDGETS);
    case 'each':
      return applyEach(connection, part, sending);
  }
}

/**
 * The call that applies a batch. Kinds that read first need the script for all kinds; plain windows have a call of their own, which is
 * cheaper, and budgets a script that supports all of them. Runs are decided together, and so are plain windows and kinds that read
 * first where they share a key: their order matters.
 */
function callFor(
  { usesScripts }: RedisConnection,
  batch: CounterBatch,
): 'counts' | 'kinds' | 'budgets' | 'each' {
  const { length } = batch.increments;
  const { looking, budgets } = countReadingFirst(batch);
  if (budgets === length || (usesScripts && areRunsOfBudgets(batch, budgets))) return 'budgets';
  if (looking === 0) return 'counts';
  if (budgets > 0) return 'each';
  return looking === length || (usesScripts && areOrdered(batch)) ? 'kinds' : 'each';
}

async function applyInParts(
  connection: RedisConnection,
  batch: CounterBatch,
  sending: Sending,
): Promise<CounterReply> {
  const parts = splitBatch(batch, MAX_INCREMENTS_PER_CALL);
  const replies = await Promise.all(
    parts.map((part) => settled(() => applyPart(connection, part, sending))),
  );
  const draft = createReplyDraft(batch.increments.length);
  for (const [at, { places }] of parts.entries())
    scatter(draft, places, replies[at] as CounterReply | StoreError);
  return toReply(draft);
}

/** The number of increments of kinds that read first, and of budgets among them. */
function countReadingFirst({ increments }: CounterBatch) {
  let [looking, budgets] = [0, 0];
  for (const increment of increments) {
    if (!increment.limiter.kind.readsFirst) continue;
    looking += 1;
    if (needsBudgetScript(increment)) budgets += 1;
  }
  return { looking, budgets };
}

/** A rule with a budget, or an undo, which the script of kinds does not support. */
function needsBudgetScript({ limiter, undoOfMicros }: Increment): boolean {
  return limiter.kind.lua === undefined || undoOfMicros !== undefined;
}

/** Whether requests are decided together in a way that the script of kinds does not support. */
function areRunsOfBudgets({ increments, groupEnds }: CounterBatch, budgets: number): boolean {
  if (groupEnds === undefined) return false;
  return budgets > 0 || increments.some(({ holdsBack }) => holdsBack === false);
}

/** Plain windows, kinds that read first and budgets, each by a call of its own. */
async function applyEach(
  connection: RedisConnection,
  part: CounterBatch,
  sending: Sending,
): Promise<CounterReply> {
  const isOrdered = connection.usesScripts && areOrdered(part);
  const readsFirst = (one: Increment): boolean =>
    !needsBudgetScript(one) && (one.limiter.kind.readsFirst || isOrdered);
  const [budgets, firstRead] = [pick(part, needsBudgetScript), pick(part, readsFirst)];
  const counts = pick(part, (one) => !needsBudgetScript(one) && !readsFirst(one));
  const calls: readonly (readonly [SubBatch, () => Promise<CounterReply>])[] = [
    [counts, () => applyCounts(connection, counts, sending)],
    [firstRead, () => applyOperations(connection, firstRead, sending, OF_KINDS)],
    [budgets, () => applyOperations(connection, budgets, sending, OF_BUDGETS)],
  ];
  const { stream } = connection.client;
  stream.cork();
  const replies = calls.map(([{ places }, call]) =>
    places.length === 0 ? undefined : settled(call),
  );
  stream.uncork();
  const draft = createReplyDraft(part.increments.length);
  for (const [at, reply] of replies.entries())
    if (reply !== undefined) scatter(draft, calls[at]?.[0].places ?? [], await reply);
  return finish(draft);
}

/** Whether requests are decided together, or a kind that reads first shares a key with one that does not: aligned windows share theirs. */
function areOrdered({ increments, groupEnds }: CounterBatch): boolean {
  if (groupEnds !== undefined) return true;
  let keys: Set<string> | undefined;
  for (const { limiter, key } of increments)
    if (limiter.kind.readsFirst && !limiter.kind.isRecord) (keys ??= new Set()).add(key);
  if (keys === undefined) return false;
  return increments.some(({ limiter, key }) => !limiter.kind.readsFirst && keys.has(key));
}

/** Applies kinds that do not read first, by script where the server allows it. */
async function applyCounts(
  connection: RedisConnection,
  part: CounterBatch,
  { withoutScripts = false, asking = false }: Sending,
): Promise<CounterReply> {
  const byScript = !withoutScripts && !asking && connection.usesScripts;
  try {
    if (byScript) return await addByScript(connection, part);
    return await addByPipeline(connection, part, asking);
  } catch (error) {
    const refusal = byScript ? scriptRefusal(error) : undefined;
    if (refusal === undefined) throw connection.toError(error);
    if (!isAboutKeys(refusal)) connection.refuseScripts(refusal);
    return applyCounts(connection, part, { withoutScripts: true });
  }
}

/** Splits a batch into parts of at most `size` increments, or of one request: its run stays in one part. */
export function splitBatch(batch: CounterBatch, size: number): readonly SubBatch[] {
  const ends = partEnds(batch, size);
  let part = 0;
  const partOf = (_: unknown, place: number): number => {
    while ((ends[part] as number) <= place) part += 1;
    return part;
  };
  return [...deal(batch, partOf).values()];
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
