import { describe, quote, type Located, type LocatedMap } from './located';
import { didYouMean, readName, unknown, warnOfDuplicate, type Words, nearestName } from './names';
import type { Place } from './problem';
import type { ErrorClass, Report, WarningClass } from './report';
import { isSet, present, resolveScalar } from './scalars';

export interface Range {
  readonly least: number;
  readonly most: number;
}

/**
 * Reads one map field by field; of duplicate names the last one applies. Every mistake is reported at its place, and then reads as
 * if the field were absent. Classes of mistakes are those of `Report`.
 */
export class Fields<Name extends string = string> {
  readonly map: LocatedMap;
  readonly report: Report;
  readonly #fields = new Map<string, Located>();
  readonly #meant = new Set<string | undefined>();
  readonly #misplaced = new Set<string>();

  /** Reports unknown names, and warns of those without effect here and of duplicates. */
  constructor(map: LocatedMap, words: Words<Name>, report: Report) {
    this.map = map;
    this.report = report;
    const places = new Map<string, Place>();
    for (const { key, value } of map.pairs) {
      const name = readName(key, words, report);
      if (name === undefined) continue;
      const isKnown = (words.known as readonly string[]).includes(name);
      if (isKnown || words.elsewhere !== undefined) warnOfDuplicate(places, key, name, report);
      if (isKnown) this.#fields.set(name, value);
      else this.#enterUnknown(key, name, words);
    }
  }

  #enterUnknown(key: Located, name: string, words: Words): void {
    const misplaced = words.elsewhere?.misplaced(name, words);
    if (misplaced !== undefined) {
      this.#misplaced.add(name);
      this.report.warning(key.at, 'misplaced-key', misplaced);
      return;
    }
    const nearest = nearestName(name, words.elsewhere?.known ?? words.known);
    this.#meant.add(nearest);
    this.report.error(key.at, 'unknown-key', unknown(quote(name), nearest, words));
  }

  /** Known names in this map that have no effect here. */
  get misplaced(): ReadonlySet<string> {
    return this.#misplaced;
  }

  /** Whether it is missing only because its name is misspelled, which is reported. */
  isMisspelled(name: Name): boolean {
    return !this.#fields.has(name) && this.#meant.has(name);
  }

  /** The node as it is written. */
  get(name: Name): Located | undefined {
    return this.#fields.get(name);
  }

  /** Undefined when it is missing, empty, `~` or `null`. */
  given(name: Name): Located | undefined {
    return present(this.get(name));
  }

  /** Whether it has a value. */
  has(name: Name): boolean {
    return this.given(name) !== undefined;
  }

  /** Whether it has a value other than `false` or an empty list. */
  isSet(name: Name): boolean {
    return isSet(this.get(name));
  }

  /** The place of a field, or of the map where it is missing. */
  at(name: Name): Place {
    return (this.get(name) ?? this.map).at;
  }

  error(name: Name, mistake: ErrorClass, message: string): void {
    this.report.error(this.at(name), mistake, message);
  }

  warning(name: Name, remark: WarningClass, message: string): void {
    this.report.warning(this.at(name), remark, message);
  }

  /**
   * A string: unquoted words, whole numbers and booleans stay as written (`010`, `yes`). Empty when absent, undefined when it is
   * something else.
   */
  text(name: Name): string | undefined {
    const node = this.given(name);
    if (node === undefined) return '';
    if (node.kind !== 'scalar') this.#refuseType(name, node, 'a string');
    else {
      if (resolveScalar(node).type !== 'fraction') return node.text;
      const message = `${name} must be a string, found the unquoted fraction ${node.text}: quote it, ${quote(node.text)}`;
      this.error(name, 'wrong-type', message);
    }
    return undefined;
  }

  /** A string of a fixed set; undefined when absent, empty or something else. `isGuessed`: the message asks for a near one. */
  oneOf<const T extends string>(
    name: Name,
    known: readonly T[],
    mistake: ErrorClass,
    isGuessed = true,
  ): T | undefined {
    const text = this.text(name);
    const found = known.find((one) => one === text);
    if (text === undefined || text === '' || found !== undefined) return found;
    const hint = isGuessed ? didYouMean(text, known) : '';
    this.error(name, mistake, `${name} ${quote(text)} is not one of ${known.join(', ')}${hint}`);
    return undefined;
  }

  /** A boolean; false when absent. */
  flag(name: Name): boolean {
    const node = this.given(name);
    const resolved = node?.kind === 'scalar' ? resolveScalar(node) : undefined;
    if (resolved?.type === 'boolean') return resolved.value;
    if (node !== undefined) this.#refuseType(name, node, 'a boolean (true or false, unquoted)');
    return false;
  }

  /** A whole number. `called`: the field's name in messages. */
  whole(
    name: Name,
    { least, most }: Range,
    mistake: ErrorClass,
    called: string = name,
  ): number | undefined {
    const node = this.given(name);
    const resolved = node?.kind === 'scalar' ? resolveScalar(node) : undefined;
    if (node === undefined) return undefined;
    if (resolved?.type === 'integer' && resolved.value >= least && resolved.value <= most)
      return resolved.value;
    const expected = `a whole number from ${String(least)} to ${String(most)}, unquoted`;
    this.error(name, mistake, `${called} must be ${expected}; found ${describe(node)}`);
    return undefined;
  }

  /** The map of a field. `ofList`: an addition to the message for a list. */
  mapOf(name: Name, ofList = ''): LocatedMap | undefined {
    const node = this.given(name);
    if (node === undefined || node.kind === 'map') return node;
    const hint = node.kind === 'list' ? ofList : '';
    this.error(name, 'wrong-type', `${name} must be a map; found ${describe(node)}${hint}`);
    return undefined;
  }

  /** The elements of a list of maps. */
  mapsOf(name: Name): readonly LocatedMap[] {
    const node = this.given(name);
    if (node === undefined) return [];
    if (node.kind !== 'list') {
      this.#refuseType(name, node, 'a list');
      return [];
    }
    return node.items.filter((item): item is LocatedMap => {
      if (item.kind === 'map') return true;
      const message = `${name} must be a list of maps, found ${describe(item)} in it`;
      this.report.error(item.at, 'list-of-non-maps', message);
      return false;
    });
  }

  #refuseType(name: Name, node: Located, expected: string): void {
    this.error(name, 'wrong-type', `${name} must be ${expected}; found ${describe(node)}`);
  }
}
