import { Fields } from '../fields/fields';
import { describe, quote, type LocatedMap } from '../fields/located';
import type { Report } from '../fields/report';
import { compilePattern, type Pattern } from '../platform/pattern';

/** One map of a map file, whose fields are required when they are read. */
export class MapFields extends Fields {
  /** @param where completes "unknown key "x" …": `in an entry` */
  constructor(map: LocatedMap, where: string, known: readonly string[], report: Report) {
    super(map, { known, where }, report);
  }

  /** The text as it is written. */
  override text(name: string): string | undefined {
    const node = this.given(name);
    if (node?.kind === 'scalar' && node.text !== '') return node.text;
    const found = node === undefined ? 'it is missing' : `found ${describe(node)}`;
    this.refuse(name, `${name} must be a string; ${found}`);
    return undefined;
  }

  /** Undefined where it is missing, too. */
  override oneOf<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    if (!this.has(name)) return undefined;
    const text = this.text(name);
    const found = choices.find((choice) => choice === text);
    if (text === undefined || found !== undefined) return found;
    this.refuse(name, `${name} ${quote(text)} is not one of ${choices.join(', ')}`);
    return undefined;
  }

  /** In the syntax of RE2. */
  pattern(name: string, isCaseless = false): Pattern | undefined {
    const source = this.text(name);
    if (source === undefined) return undefined;
    try {
      return compilePattern(source, isCaseless);
    } catch (error) {
      const { message } = error as Error;
      this.refuse(name, `${name} ${quote(source)} is not a regular expression: ${message}`);
      return undefined;
    }
  }

  /** The map below a name; undefined where it is missing, which is reported too. */
  fieldsOf(name: string, where: string, known: readonly string[]): MapFields | undefined {
    if (!this.has(name)) this.refuse(name, `${name} must be a map; it is missing`);
    const map = this.mapOf(name);
    return map && new MapFields(map, where, known, this.report);
  }

  /** The maps of a list; an empty list is reported. */
  fieldsOfEach(name: string, where: string, known: readonly string[]): readonly MapFields[] {
    const node = this.given(name);
    if (node === undefined || (node.kind === 'list' && node.items.length === 0))
      this.refuse(name, `${name} must be a list of maps; it is ${node ? 'empty' : 'missing'}`);
    return this.mapsOf(name).map((map) => new MapFields(map, where, known, this.report));
  }

  refuse(name: string, message: string): void {
    this.error(name, 'bad-map', message);
  }
}
