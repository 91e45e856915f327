import { StoreError } from '../errors';
import type { CounterBatch, CounterReply, Increment } from '../ports';
import { fail, takeOver, type ReplyDraft } from './reply-draft';

/** Some increments of a batch, in its order; runs keep what is theirs. */
export interface SubBatch extends CounterBatch {
  /** Where its increments stand in the whole. */
  readonly places: readonly number[];
}

type Ask<T> = (increment: Increment, place: number) => T;

/** The increments of which this is true. */
export function pick(batch: CounterBatch, isWanted: Ask<boolean>): SubBatch {
  return deal(batch, () => true, isWanted).get(true) ?? startOf(batch);
}

/** All increments, or those of which something is true, by the part to which each belongs. */
export function deal<P>(
  batch: CounterBatch,
  partOf: Ask<P>,
  isWanted?: Ask<boolean>,
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
  /** The run of the whole to which the last of them belongs. */
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

/** Puts what became of increments, or why they failed, where these stand in the whole. */
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
