/** How a stream closed, as far as we remember (RFC 9113 §5.1, "closed"). */
export const CloseReason = {
  /** Skipped by the peer, which closes it implicitly. */
  neverOpened: 0,
  /** Both sides sent END_STREAM. */
  ended: 1,
  resetByPeer: 2,
  /** Reset or ignored by us: frames that were in flight are legal. */
  resetByUs: 3,
  /** Too long ago. */
  forgotten: 4,
} as const;

/** The close reasons of the latest streams: a ring by id, in which newer streams overwrite older ones. */
export interface ClosedStreams {
  ids: Int32Array;
  reasons: Uint8Array;
}

const MIN_SLOTS = 32;
const MAX_SLOTS = 2048;

export function createClosedStreams(): ClosedStreams {
  return { ids: new Int32Array(MIN_SLOTS), reasons: new Uint8Array(MIN_SLOTS) };
}

export function rememberClosed(closed: ClosedStreams, id: number, reason: number): void {
  // Overwrites only at full width: a reason lost before would look like `neverOpened` after widening.
  while (isTaken(closed, id) && closed.ids.length < MAX_SLOTS) widen(closed);
  const slot = slotOf(closed, id);
  if ((closed.ids[slot] ?? 0) > id) return;
  closed.ids[slot] = id;
  closed.reasons[slot] = reason;
}

function isTaken(closed: ClosedStreams, id: number): boolean {
  const other = closed.ids[slotOf(closed, id)] ?? 0;
  return other !== 0 && other !== id;
}

/** For an id that is not above the highest one seen, and not open. */
export function closeReasonOf(closed: ClosedStreams, id: number): number {
  const slot = slotOf(closed, id);
  const known = closed.ids[slot] ?? 0;
  if (known === id) return closed.reasons[slot] ?? CloseReason.forgotten;
  // Newer streams overwrite older ones: a newer id in the slot may hide this one, an older id cannot.
  return known > id ? CloseReason.forgotten : CloseReason.neverOpened;
}

function slotOf(closed: ClosedStreams, id: number): number {
  return (id >> 1) & (closed.ids.length - 1);
}

function widen(closed: ClosedStreams): void {
  const old = { ...closed };
  closed.ids = new Int32Array(old.ids.length * 4);
  closed.reasons = new Uint8Array(old.ids.length * 4);
  old.ids.forEach((id, slot) => {
    if (id !== 0) rememberClosed(closed, id, old.reasons[slot] ?? CloseReason.forgotten);
  });
}
