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
