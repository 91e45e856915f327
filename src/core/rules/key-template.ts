import type { Entry } from '../model';

/**
 * Template of a rule's counter keys. With the values it identifies a counter without building its key, which is built once per
 * counter and batch.
 */
export interface KeyTemplate {
  /** Fixed text between the previous varying value (or the beginning) and the value of this level (or the end). */
  readonly literal: string;
  /** Whether the value of this level is inserted at run time; a value fixed by the rule is in `literal`. */
  readonly isDynamic: boolean;
  /** The nearest ancestor level that varies. */
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

/** Appends a value to the values of a path; lists of equal length have equal strings only when they are equal. */
export function joinValues(values: string, value: string): string {
  return `${String(values.length)}:${values}${value}`;
}
