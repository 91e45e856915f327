import type { Entry } from '../model';

/**
 * Template of a rule's counter keys. It identifies a counter, together with the values, without building its key; the text is
 * built once per counter and batch.
 */
export interface CounterPlace {
  /** Fixed text from the last varying value above (or the beginning) up to the value of this level (or the end). */
  readonly counterText: string;
  /** Whether the value of this level is part of the key at run time: one that the rule fixes is in `counterText`. */
  readonly varies: boolean;
  /** The nearest level above that varies. */
  readonly above: CounterPlace | undefined;
  /** The index of this level's entry in a descriptor. */
  readonly level: number;
}

/** `<domain>_<key>_<value>_…`: the counter key without its prefix and its window (behaviour.md §3.4). */
export function counterName(place: CounterPlace, entries: readonly Entry[]): string {
  let { counterText: text, above } = place;
  if (place.varies) text += valueAt(place, entries);
  for (; above !== undefined; above = above.above) {
    text = above.counterText + valueAt(above, entries) + text;
  }
  return text;
}

function valueAt({ level }: CounterPlace, entries: readonly Entry[]): string {
  return (entries[level] as Entry).value;
}

/** The values of a path with one more; two lists of equal length are one text only when they are equal. */
export function joinValues(values: string, value: string): string {
  return `${String(values.length)}:${values}${value}`;
}
