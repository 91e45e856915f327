export interface LinkedList<T> {
  first: T | undefined;
  last: T | undefined;
}

interface Linked {
  previous: this | undefined;
  next: this | undefined;
}

/** Appending and unlinking are constant work. */
export function append<T extends Linked>(list: LinkedList<T>, entry: T): void {
  entry.previous = list.last;
  entry.next = undefined;
  if (list.last === undefined) list.first = entry;
  else list.last.next = entry;
  list.last = entry;
}

export function unlink<T extends Linked>(list: LinkedList<T>, entry: T): void {
  if (entry.previous === undefined) list.first = entry.next;
  else entry.previous.next = entry.next;
  if (entry.next === undefined) list.last = entry.previous;
  else entry.next.previous = entry.previous;
  entry.previous = undefined;
  entry.next = undefined;
}
