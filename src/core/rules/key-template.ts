import type { Entry } from '../model';

/**
 * Template of a rule's counter keys. It identifies a counter, together with the values, without building its key; the text is
 * built once per counter and batch.
 */
export interface KeyTemplate {
  /** Fixed text from the last varying value before (or the beginning) up to the value of this level (or the end). */
  readonly literal: string;
  /** Whether the value of this level is part of the key at run time: one that the rule fixes is in `literal`. */
  readonly isDynamic: boolean;
  /** The nearest level above that varies. */
  readonly parent: KeyTemplate | undefined;
  /** The index of this level's entry in a descriptor. */
  readonly depth: number;
}

/** `<domain>_<key>_<value>_…`: the counter key without its prefix and its window (behaviour.md §3.4). */
export function counterName(template: KeyTemplate, entries: readonly Entry[]): string {
  let { literal: text, parent } = template;
  if (template.isDynamic) text += valueAt(template, entries);
  for (; parent !== undefined; parent = parent.parent) {
    text = parent.literal + valueAt(parent, entries) + text;
  }
  return text;
}

function valueAt({ depth }: KeyTemplate, entries: readonly Entry[]): string {
  return (entries[depth] as Entry).value;
}

/** The values of a path with one more; two lists of equal length are one text only when they are equal. */
export function joinValues(values: string, value: string): string {
  return `${String(values.length)}:${values}${value}`;
}
