/** A link of a `ShareList`; one entry is in at most one list at a time. */
export interface Linked {
  previous: this | undefined;
  next: this | undefined;
}

/** A doubly linked list: append, unlink and take the first are constant work. */
export interface ShareList<T> {
  first: T | undefined;
  last: T | undefined;
}

export function append<T extends Linked>(list: ShareList<T>, entry: T): void {
  entry.previous = list.last;
  entry.next = undefined;
  if (list.last === undefined) list.first = entry;
  else list.last.next = entry;
  list.last = entry;
}

export function unlink<T extends Linked>(list: ShareList<T>, entry: T): void {
  if (entry.previous === undefined) list.first = entry.next;
  else entry.previous.next = entry.next;
  if (entry.next === undefined) list.last = entry.previous;
  else entry.next.previous = entry.previous;
  entry.previous = undefined;
  entry.next = undefined;
}
