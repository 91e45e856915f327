import type { Entry } from '../model';

/**
 * Where counters get their names. With the values that come into them it tells counters apart; that takes no joining of
 * texts, so that only a counter that is asked for the first time in a batch is called by its name.
 */
export interface CounterPlace {
  /** What names say from the last value above, or from their beginning, up to the value here, or to the end. */
  readonly counterText: string;
  /** Whether the value of this level comes into names: where a rule fixes it, `counterText` says it. */
  readonly varies: boolean;
  /** The nearest level above whose value comes into names. */
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
