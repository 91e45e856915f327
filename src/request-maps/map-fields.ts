import { nearestName } from '../core/nearest-name';
import { warnOfDuplicate } from '../core/rules/parse/fields';
import { describe, quote, type Located, type LocatedMap } from '../core/rules/parse/located';
import type { Place } from '../core/rules/parse/problem';
import type { Report } from '../core/rules/parse/report';
import { readFlag, readMap, readMaps, readWholeNumber, present } from '../core/rules/parse/values';
import { compilePattern, type Pattern } from '../platform/pattern';

/** One map of a file of maps, field by field: every mistake is reported with its place, and reads as undefined. */
export class MapFields {
  readonly #fields = new Map<string, Located>();
  readonly at: Place;
  readonly report: Report;

  /** @param where completes "unknown key "x" …": `in an entry` */
  constructor(map: LocatedMap, where: string, known: readonly string[], report: Report) {
    this.at = map.at;
    this.report = report;
    const places = new Map<string, Place>();
    for (const { key, value } of map.pairs) {
      const name = key.kind === 'scalar' ? key.text : undefined;
      if (name === undefined || !known.includes(name)) {
        const said = name === undefined ? describe(key) : quote(name);
        const message = `unknown key ${said} ${where}: ${hint(name, known)}known keys are ${known.join(', ')}`;
        report.error(key.at, 'unknown-key', message);
        continue;
      }
      warnOfDuplicate(places, key, name, report);
      if (present(value) !== undefined) this.#fields.set(name, value);
    }
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  get(name: string): Located | undefined {
    return this.#fields.get(name);
  }

  /** The text as it is written. Reports one that is missing. */
  text(name: string): string | undefined {
    const node = this.#fields.get(name);
    if (node?.kind === 'scalar' && node.text !== '') return node.text;
    const found = node === undefined ? 'it is missing' : `found ${describe(node)}`;
    this.refuse(name, `${name} must be a string; ${found}`);
    return undefined;
  }

  /** Undefined where it is missing, too. */
  oneOf<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    if (!this.has(name)) return undefined;
    const text = this.text(name);
    const found = choices.find((choice) => choice === text);
    if (text === undefined || found !== undefined) return found;
    this.refuse(name, `${name} ${quote(text)} is not one of ${choices.join(', ')}`);
    return undefined;
  }

  flag(name: string): boolean {
    return readFlag(this.get(name), name, this.report);
  }

  /** `otherwise` where it is missing. */
  whole(
    name: string,
    range: { readonly least: number; readonly most: number },
    otherwise: number,
  ): number {
    const node = this.#fields.get(name);
    if (node === undefined) return otherwise;
    const onMistake = (message: string): void => {
      this.refuse(name, message);
    };
    return readWholeNumber(node, name, range, onMistake) ?? otherwise;
  }

  /** In the syntax of RE2. */
  pattern(name: string): Pattern | undefined {
    const source = this.text(name);
    if (source === undefined) return undefined;
    try {
      return compilePattern(source);
    } catch (error) {
      const { message } = error as Error;
      this.refuse(name, `${name} ${quote(source)} is not a regular expression: ${message}`);
      return undefined;
    }
  }

  /** The map below a name; undefined where it is missing, which is reported too. */
  map(name: string, where: string, known: readonly string[]): MapFields | undefined {
    if (!this.has(name)) this.refuse(name, `${name} must be a map; it is missing`);
    const map = readMap(this.get(name), name, this.report);
    return map && new MapFields(map, where, known, this.report);
  }

  /** The maps of a list; an empty list is reported. */
  maps(name: string, where: string, known: readonly string[]): readonly MapFields[] {
    const node = this.get(name);
    if (node === undefined || (node.kind === 'list' && node.items.length === 0))
      this.refuse(name, `${name} must be a list of maps; it is ${node ? 'empty' : 'missing'}`);
    const maps = readMaps(node, name, this.report);
    return maps.map((map) => new MapFields(map, where, known, this.report));
  }

  /** Reports a mistake about a field, at its place, or at the map's where it is missing. */
  refuse(name: string, message: string): void {
    this.report.error(this.get(name)?.at ?? this.at, 'bad-map', message);
  }
}

function hint(name: string | undefined, known: readonly string[]): string {
  const nearest = name === undefined ? undefined : nearestName(name, known);
  return nearest === undefined ? '' : `did you mean ${quote(nearest)}? `;
}
