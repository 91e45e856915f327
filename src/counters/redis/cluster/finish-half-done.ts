import { StoreError } from '../../../core/errors';
import { type ReplyDraft } from '../../../core/batches/reply-draft';
import { type HostAndPort } from '../options';
import { HalfDone, toHalfDoneError } from '../store-errors';
import { sendFollowing } from './send-following';
import { type ClusterNode } from './cluster-nodes';
import { toRedirect } from './redirect';

export interface HalfDoneDeps {
  /** Undefined: there is no such node, or it may not be followed. */
  readonly nodeAt: (address: HostAndPort) => ClusterNode | undefined;
  /** An answer shows that the slot map has changed. */
  readonly onStale: () => void;
  /** Whether the hits of an increment stay counted is unknown. */
  readonly onUnknown: () => void;
}

/**
 * Completes increments whose slot moved between INCRBY and the command that must follow it. The increment is counted and is not
 * sent again.
 */
export async function finishHalfDone(
  { nodeAt, onStale, onUnknown }: HalfDoneDeps,
  draft: ReplyDraft,
  askedAt: (index: number) => ClusterNode,
  deadlineMs: number,
): Promise<void> {
  const finishOne = async (index: number, error: HalfDone): Promise<void> => {
    const { count, left } = error.work;
    try {
      const redirect = toRedirect(error.redirect, askedAt(index).host);
      if (redirect === undefined || redirect.kind === 'without-scripts') throw error.redirect;
      const first = nodeAt(redirect.to);
      if (first === undefined) throw error.redirect;
      await sendFollowing(nodeAt, { first, asking: redirect.kind === 'ask' }, [left], deadlineMs);
      draft.failures?.delete(index);
      draft.after[index] = count;
    } catch (failure) {
      if (!(failure instanceof StoreError)) throw failure;
      draft.failures?.set(index, toHalfDoneError(error.redirect.store, failure.message));
      onUnknown();
    }
  };
  const finishing: Promise<void>[] = [];
  for (const [index, error] of draft.failures ?? [])
    if (error instanceof HalfDone) finishing.push(finishOne(index, error));
  if (finishing.length === 0) return;
  onStale();
  await Promise.all(finishing);
}
