import { StoreError } from '../errors';
import type { CounterBatch, CounterReply, Increment } from '../ports';
import { fail, takeOver, type ReplyDraft } from './reply-draft';

/** Some increments of a batch, in its order; runs stay together. */
export interface SubBatch extends CounterBatch {
  /** The index of each increment in the whole batch. */
  readonly places: readonly number[];
}

type OfIncrement<T> = (increment: Increment, place: number) => T;

/** The increments that satisfy the predicate. */
export function pick(batch: CounterBatch, isWanted: OfIncrement<boolean>): SubBatch {
  return deal(batch, () => true, isWanted).get(true) ?? startOf(batch);
}

/** Groups the increments (all, or those that satisfy `isWanted`) by their part. */
export function deal<P>(
  batch: CounterBatch,
  partOf: OfIncrement<P>,
  isWanted?: OfIncrement<boolean>,
): ReadonlyMap<P, SubBatch> {
  const { increments, groupEnds } = batch;
  const drafts = new Map<P, Draft>();
  let run = 0;
  for (let place = 0; place < increments.length; place += 1) {
    const increment = increments[place] as Increment;
    if (isWanted?.(increment, place) === false) continue;
    const part = partOf(increment, place);
    let draft = drafts.get(part);
    if (draft === undefined) drafts.set(part, (draft = startOf(batch)));
    draft.increments.push(increment);
    draft.places.push(place);
    if (groupEnds === undefined) continue;
    while ((groupEnds[run] as number) <= place) run += 1;
    endRun(draft, run);
  }
  return drafts;
}

interface Draft extends SubBatch {
  readonly increments: Increment[];
  readonly places: number[];
  readonly groupEnds: number[] | undefined;
  /** The run of the whole batch to which the last of them belongs. */
  run: number;
}

function startOf({ groupEnds, nowSeconds }: CounterBatch): Draft {
  return { increments: [], groupEnds: groupEnds && [], nowSeconds, places: [], run: -1 };
}

function endRun(draft: Draft, run: number): void {
  if (draft.run === run) draft.groupEnds?.pop();
  draft.groupEnds?.push(draft.places.length);
  draft.run = run;
}

/** Writes the replies to increments, or their failures, at their indices in the whole batch. */
export function scatter(
  draft: ReplyDraft,
  places: readonly number[],
  reply: CounterReply | StoreError,
): void {
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at] as number;
    if (reply instanceof StoreError) fail(draft, place, reply);
    else takeOver(draft, place, reply, at);
  }
}
