/**
 * The open streams by id. Ids of clients are odd and grow, so that a ring finds nearly all of them without a hash
 * table. A collision widens the ring; at its full width the later stream goes to a map.
 */
export interface StreamTable<T extends { readonly id: number }> {
  slots: (T | undefined)[];
  readonly overflow: Map<number, T>;
  count: number;
}

const MIN_SLOTS = 32;
const MAX_SLOTS = 4096;

export function createStreamTable<T extends { readonly id: number }>(): StreamTable<T> {
  return { slots: emptySlots(MIN_SLOTS), overflow: new Map(), count: 0 };
}

export function findStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  id: number,
): T | undefined {
  const stream = table.slots[slotOf(table, id)];
  if (stream?.id === id) return stream;
  return table.overflow.size === 0 ? undefined : table.overflow.get(id);
}

/** The id must not be in the table yet. */
export function addStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  stream: T,
): void {
  table.count++;
  while (table.slots[slotOf(table, stream.id)] !== undefined && table.slots.length < MAX_SLOTS) {
    widen(table);
  }
  place(table, stream);
}

export function removeStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  id: number,
): void {
  const slot = slotOf(table, id);
  if (table.slots[slot]?.id === id) table.slots[slot] = undefined;
  else if (!table.overflow.delete(id)) return;
  table.count--;
}

/** All streams, oldest first. */
export function listStreams<T extends { readonly id: number }>(table: StreamTable<T>): T[] {
  const streams = table.slots.filter((stream) => stream !== undefined);
  return [...streams, ...table.overflow.values()].sort((a, b) => a.id - b.id);
}

/** Whether `test` holds for an open stream; walks the table without a copy. */
export function someStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  test: (stream: T) => boolean,
): boolean {
  for (const stream of table.slots) {
    if (stream !== undefined && test(stream)) return true;
  }
  for (const stream of table.overflow.values()) {
    if (test(stream)) return true;
  }
  return false;
}

function widen<T extends { readonly id: number }>(table: StreamTable<T>): void {
  const streams = table.slots.filter((stream) => stream !== undefined);
  table.slots = emptySlots(table.slots.length * 2);
  for (const stream of streams) place(table, stream);
}

function place<T extends { readonly id: number }>(table: StreamTable<T>, stream: T): void {
  const slot = slotOf(table, stream.id);
  if (table.slots[slot] === undefined) table.slots[slot] = stream;
  else table.overflow.set(stream.id, stream);
}

function slotOf(table: { slots: readonly unknown[] }, id: number): number {
  return (id >> 1) & (table.slots.length - 1);
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return new Array<T | undefined>(count).fill(undefined);
}

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

const MAX_CLOSED_SLOTS = 2048;

export function createClosedStreams(): ClosedStreams {
  return { ids: new Int32Array(MIN_SLOTS), reasons: new Uint8Array(MIN_SLOTS) };
}

export function rememberClosed(closed: ClosedStreams, id: number, reason: number): void {
  // Overwrites only at full width: a reason lost before would look like `neverOpened` after widening.
  while (isTaken(closed, id) && closed.ids.length < MAX_CLOSED_SLOTS) widenClosed(closed);
  const slot = closedSlotOf(closed, id);
  if ((closed.ids[slot] ?? 0) > id) return;
  closed.ids[slot] = id;
  closed.reasons[slot] = reason;
}

function isTaken(closed: ClosedStreams, id: number): boolean {
  const other = closed.ids[closedSlotOf(closed, id)] ?? 0;
  return other !== 0 && other !== id;
}

/** For an id that is not above the highest one seen, and not open. */
export function closeReasonOf(closed: ClosedStreams, id: number): number {
  const slot = closedSlotOf(closed, id);
  const known = closed.ids[slot] ?? 0;
  if (known === id) return closed.reasons[slot] ?? CloseReason.forgotten;
  // Newer streams overwrite older ones: a newer id in the slot may hide this one, an older id cannot.
  return known > id ? CloseReason.forgotten : CloseReason.neverOpened;
}

function closedSlotOf(closed: ClosedStreams, id: number): number {
  return (id >> 1) & (closed.ids.length - 1);
}

function widenClosed(closed: ClosedStreams): void {
  const old = { ...closed };
  closed.ids = new Int32Array(old.ids.length * 4);
  closed.reasons = new Uint8Array(old.ids.length * 4);
  old.ids.forEach((id, slot) => {
    if (id !== 0) rememberClosed(closed, id, old.reasons[slot] ?? CloseReason.forgotten);
  });
}
