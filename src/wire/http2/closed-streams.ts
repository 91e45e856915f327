/** How a stream went, as far as we remember (RFC 9113 §5.1, "closed"). */
export const Ending = {
  /** Skipped by the peer, which closes it without a word. */
  neverOpened: 0,
  /** Both sides said END_STREAM. */
  ended: 1,
  resetByPeer: 2,
  /** Reset or ignored by us: frames that were under way are no fault. */
  resetByUs: 3,
  /** Too long ago. */
  forgotten: 4,
} as const;

/** The endings of the last streams: a ring by id, so that a newer stream takes the place of an old one. */
export interface ClosedStreams {
  ids: Int32Array;
  endings: Uint8Array;
}

const FEWEST = 32;
const MOST = 2048;

export function createClosedStreams(): ClosedStreams {
  return { ids: new Int32Array(FEWEST), endings: new Uint8Array(FEWEST) };
}

export function rememberEnding(closed: ClosedStreams, id: number, ending: number): void {
  // An ending is given up only at full width: one that was lost before would look like none after widening.
  while (isTaken(closed, id) && closed.ids.length < MOST) widen(closed);
  const slot = slotOf(closed, id);
  if ((closed.ids[slot] ?? 0) > id) return;
  closed.ids[slot] = id;
  closed.endings[slot] = ending;
}

function isTaken(closed: ClosedStreams, id: number): boolean {
  const other = closed.ids[slotOf(closed, id)] ?? 0;
  return other !== 0 && other !== id;
}

/** For an id that is not above the highest one seen, and not open. */
export function endingOf(closed: ClosedStreams, id: number): number {
  const slot = slotOf(closed, id);
  const known = closed.ids[slot] ?? 0;
  if (known === id) return closed.endings[slot] ?? Ending.forgotten;
  // A place goes to the younger stream: a younger one there may hide this one, an older one cannot.
  return known > id ? Ending.forgotten : Ending.neverOpened;
}

function slotOf(closed: ClosedStreams, id: number): number {
  return (id >> 1) & (closed.ids.length - 1);
}

function widen(closed: ClosedStreams): void {
  const old = { ...closed };
  closed.ids = new Int32Array(old.ids.length * 4);
  closed.endings = new Uint8Array(old.ids.length * 4);
  old.ids.forEach((id, slot) => {
    if (id !== 0) rememberEnding(closed, id, old.endings[slot] ?? Ending.forgotten);
  });
}
