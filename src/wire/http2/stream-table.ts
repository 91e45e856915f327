/**
 * The open streams by id. Ids of clients are odd and grow, so that a ring finds nearly all of them without a hash
 * table; two that want one place make it wider, and past its largest width one of them goes to a map.
 */
export interface StreamTable<T extends { readonly id: number }> {
  slots: (T | undefined)[];
  readonly crowded: Map<number, T>;
  count: number;
}

const NARROWEST = 32;
const WIDEST = 4096;

export function createStreamTable<T extends { readonly id: number }>(): StreamTable<T> {
  return { slots: emptySlots(NARROWEST), crowded: new Map(), count: 0 };
}

export function findStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  id: number,
): T | undefined {
  const stream = table.slots[slotOf(table, id)];
  if (stream?.id === id) return stream;
  return table.crowded.size === 0 ? undefined : table.crowded.get(id);
}

/** The id must not be in the table yet. */
export function addStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  stream: T,
): void {
  table.count++;
  while (table.slots[slotOf(table, stream.id)] !== undefined && table.slots.length < WIDEST) {
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
  else if (!table.crowded.delete(id)) return;
  table.count--;
}

/** All streams, oldest first. */
export function listStreams<T extends { readonly id: number }>(table: StreamTable<T>): T[] {
  const streams = table.slots.filter((stream) => stream !== undefined);
  return [...streams, ...table.crowded.values()].sort((a, b) => a.id - b.id);
}

/** Whether `test` holds for an open stream; walks the table as it is, without a copy. */
export function someStream<T extends { readonly id: number }>(
  table: StreamTable<T>,
  test: (stream: T) => boolean,
): boolean {
  for (const stream of table.slots) {
    if (stream !== undefined && test(stream)) return true;
  }
  for (const stream of table.crowded.values()) {
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
  else table.crowded.set(stream.id, stream);
}

function slotOf(table: { slots: readonly unknown[] }, id: number): number {
  return (id >> 1) & (table.slots.length - 1);
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return new Array<T | undefined>(count).fill(undefined);
}
