import { type MasterView } from './ask-sentinel';

/** What sentinels have said lately; one that lags behind or is cut off does not win over the others. */
export interface Views {
  /** Notes what a sentinel says and answers the newest view of those that still count. */
  note(sentinel: string, view: MasterView, nowMs: number): MasterView;
}

/** A sentinel that has been silent for this long has no say: its epoch may belong to a past set-up. */
const COUNTS_FOR_MS = 5_000;

export function createViews(): Views {
  const views = new Map<string, { readonly view: MasterView; readonly atMs: number }>();
  return {
    note(sentinel, view, nowMs) {
      views.set(sentinel, { view, atMs: nowMs });
      let newest = view;
      for (const { view: other, atMs } of views.values())
        if (other.epoch > newest.epoch && nowMs - atMs < COUNTS_FOR_MS) newest = other;
      return newest;
    },
  };
}
